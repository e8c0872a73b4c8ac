'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { runTraces, readThreads } = require('../helpers/run-traces.js')
const { cleanEnv, temporaryDirectory, tracesIn } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { until } = require('../helpers/until.js')

const NODE = process.execPath

/** Writes a program. @param {string} cwd @param {string} name @param {string} code */
const write = (cwd, name, code) => fs.writeFileSync(path.join(cwd, name), code)

/** Returns the folders of runs in a directory for temporary files. @param {string} dir */
const runFolders = (dir) => fs.readdirSync(dir).filter((name) => name.startsWith('cpu-prof-run-'))

test('a process that gets nothing but NODE_OPTIONS and PATH is part of the run, with its settings', async () => {
  const cwd = temporaryDirectory()
  const script = 'exec env -i PATH="$PATH" NODE_OPTIONS="$NODE_OPTIONS" "$0" -e 0'
  const settings = ['--keep-recordings', '--interval', '500']
  const { code, stderr } = await cli(['run', ...settings, 'sh', '-c', script, NODE], {
    cwd,
    env: { CPU_PROF_IGNORE_LIST: 'show', CPU_PROF_NAME: 'x-%T' },
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /\ntrace: profiles\S+ \(.* 1 process, 1 thread\)\n/)
  assert.deepEqual(fs.readdirSync(cwd), ['profiles'])
  const [file] = tracesIn(path.dirname(runTraces(cwd)[0]))
  assert.equal(path.basename(file), 'x-0.trace.json')
  assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).metadata['cpu-prof'].intervalUs, 500)
})

test('the environment of a run has no variable more than without a run', async () => {
  const code = 'console.log(JSON.stringify(Object.keys(process.env)))'
  const { stdout } = await cli(['run', '-q', NODE, '-e', code])
  const names = JSON.parse(stdout).filter((/** @type {string} */ name) => !(name in cleanEnv()))
  assert.deepEqual(
    names.filter((/** @type {string} */ name) => name !== 'NODE_OPTIONS'),
    [],
  )
})

test('nothing is written into the project while the command runs', async () => {
  const cwd = temporaryDirectory()
  const tmp = temporaryDirectory()
  // Looks once its recording has been written to.
  const code = `
    const fs = require('node:fs')
    const timer = setInterval(() => {
      const files = fs.readdirSync(process.env.TMPDIR, { recursive: true }).map(String)
      const trace = files.find((name) => name.endsWith('.trace.json'))
      if (!trace || !fs.readFileSync(process.env.TMPDIR + '/' + trace, 'utf8').includes('thread.flush')) return
      clearInterval(timer)
      console.log(JSON.stringify(fs.readdirSync('.')))
    }, 20)`
  const { code: exit, stdout } = await cli(['run', '-q', NODE, '-e', code], {
    cwd,
    env: { TMPDIR: tmp },
  })
  assert.equal(exit, 0)
  assert.deepEqual(JSON.parse(stdout), [])
  const [ignored, run] = fs.readdirSync(path.join(cwd, 'profiles')).sort()
  assert.equal(ignored, '.gitignore')
  assert.deepEqual(fs.readdirSync(path.join(cwd, 'profiles', run)), ['trace.json'])
  assert.deepEqual(runFolders(tmp), [])
})

test('a run is not stored twice, unless its recordings are to be kept', async () => {
  for (const where of [[], ['--dir', 'd']]) {
    const program = [NODE, '-e', '0']
    const merged = await cli(['run', '-q', ...where, ...program])
    const kept = await cli(['run', '-q', '--keep-recordings', ...where, ...program])
    /** @param {string} cwd */
    const files = (cwd) =>
      fs
        .readdirSync(cwd, { recursive: true })
        .map((name) => path.basename(String(name)))
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.replace(/^CPU.*\.trace/, 'recording'))
        .sort()
    assert.deepEqual(files(merged.cwd), ['trace.json'])
    assert.deepEqual(files(kept.cwd), ['recording.json', 'trace.json'])
  }
  const both = await cli(['run', '-q', '--format', 'trace,cpuprofile', NODE, '-e', '0'])
  const names = fs.readdirSync(both.cwd, { recursive: true }).map(String)
  assert.equal(names.filter((name) => name.endsWith('.cpuprofile')).length, 1, names.join())
  assert.equal(names.filter((name) => name.endsWith('.trace.json')).length, 0, names.join())
})

test('a daemon starts processes when the run is over: they run, and leave no files', async () => {
  const cwd = temporaryDirectory()
  const tmp = temporaryDirectory()
  write(
    cwd,
    'daemon.js',
    `const { spawnSync } = require('node:child_process')
     const fs = require('node:fs')
     setTimeout(() => process.exit(), 60_000).unref()
     const timer = setInterval(() => {
       if (!fs.existsSync(process.env.TMPDIR + '/over')) return
       clearInterval(timer)
       const { status } = spawnSync(process.execPath, ['-e', 'process.exitCode = 7'], { stdio: 'ignore' })
       fs.writeFileSync('late', String(status))
     }, 20)
     process.send('up')`,
  )
  write(
    cwd,
    'parent.js',
    `const child = require('node:child_process').fork('daemon.js', { detached: true, stdio: 'ignore' })
     child.on('message', () => { child.disconnect(); child.unref() })`,
  )
  const { stderr } = await cli(['run', NODE, 'parent.js'], { cwd, env: { TMPDIR: tmp } })
  assert.match(stderr, pattern`\ncpu-prof: ${messages.outlives} \S+recordings; `)
  fs.writeFileSync(path.join(tmp, 'over'), '')
  const late = path.join(cwd, 'late')
  await until(() => fs.existsSync(late) && fs.statSync(late).size > 0, 'the process did not end')
  assert.equal(fs.readFileSync(late, 'utf8'), '7')
  assert.deepEqual(fs.readdirSync(cwd).sort(), ['daemon.js', 'late', 'parent.js', 'profiles'])
  const [folder] = runFolders(tmp)
  const recordings = path.join(tmp, folder, 'recordings')
  const traces = tracesIn(recordings)
  assert.equal(traces.length, 1, 'the daemon alone')

  const [, pid] = /"pid":(\d+)/.exec(fs.readFileSync(traces[0], 'utf8')) ?? assert.fail()
  await until(() => !isAlive(Number(pid)), 'the daemon did not end')
  const next = await cli(['run', NODE, '-e', '0'], { cwd, env: { TMPDIR: tmp } })
  assert.match(
    next.stderr,
    /an earlier run \(.*parent\.js\) had a process that went on .*: cpu-prof merge \S+ -o trace\.json;/,
  )
  assert.ok(next.stderr.includes(`cpu-prof merge ${recordings} `))
})

test('a recording of an earlier run that still grows is not offered', async () => {
  const cwd = temporaryDirectory()
  const env = { TMPDIR: temporaryDirectory() }
  const daemon = 'console.log(process.pid); setInterval(() => {}, 1e3)'
  write(
    cwd,
    'parent.js',
    `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(daemon)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
     child.stdout.once('data', (pid) => { process.stdout.write(pid); child.unref(); child.stdout.destroy() })`,
  )
  const { stdout, stderr } = await cli(['run', NODE, 'parent.js'], { cwd, env })
  try {
    assert.match(stderr, pattern`${messages.outlives}`)
    const next = await cli(['run', NODE, '-e', '0'], { cwd, env })
    assert.doesNotMatch(next.stderr, /earlier run/)
  } finally {
    process.kill(Number(stdout), 'SIGKILL')
  }
})

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('the recordings of a killed run are offered', async () => {
  const cwd = temporaryDirectory()
  const env = { TMPDIR: temporaryDirectory() }
  const code = 'console.log(process.pid); setInterval(() => {}, 1e3)'
  const killed = await cli(['run', NODE, '-e', code, 'of mine'], {
    cwd,
    env,
    during: async (child) => {
      child.stdout?.once('data', (pid) => {
        child.kill('SIGKILL')
        process.kill(Number(pid), 'SIGKILL')
      })
    },
  })
  assert.equal(killed.signal, 'SIGKILL')
  const offer = pattern`cpu-prof: an earlier run \(.* of mine\) was killed .*; ${messages.toKeep} (\S+) ${messages.toDrop} (\S+)\n`
  // No run has left a trace yet.
  for (const args of [[], ['missing'], ['--html', 'page.html']]) {
    const none = await cli(['report', ...args], { cwd, env })
    assert.equal(none.code, 1)
    assert.match(none.stderr, pattern`^cpu-prof: (${messages.noRun} profiles|nothing|.*missing)`)
    assert.match(none.stderr, offer)
  }
  const next = await cli(['run', NODE, '-e', '0'], { cwd, env })
  const [, recordings, folder] = offer.exec(next.stderr) ?? assert.fail(next.stderr)
  const merged = await cli(['merge', recordings, '-o', 'trace.json'], { cwd, env })
  assert.equal(merged.code, 0, merged.stderr)
  assert.equal((await readThreads(path.join(cwd, 'trace.json'))).length, 1)
  const report = await cli(['report', runTraces(cwd)[0]], { cwd, env })
  assert.match(report.stderr, offer)
  fs.rmSync(folder, { recursive: true })
  assert.doesNotMatch((await cli(['run', NODE, '-e', '0'], { cwd, env })).stderr, /earlier run/)
})
