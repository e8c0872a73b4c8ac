'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { cli, unread } = require('../helpers/cli.js')
const { findChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { openDevTools } = require('../helpers/devtools.js')
const { runTraces, readMerged } = require('../helpers/run-traces.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

const NODE = process.execPath

/** Writes a program of three processes with two workers in the first; returns its `run`. @param {string} cwd */
function family(cwd) {
  const fixture = (/** @type {string} */ name) => JSON.stringify(path.join(FIXTURES, name))
  fs.writeFileSync(
    path.join(cwd, 'parent.js'),
    `const { Worker } = require('node:worker_threads')
     const { fork } = require('node:child_process')
     for (const i of [1, 2]) new Worker(${fixture('workers.js')}, { workerData: 'natural' })
     for (const how of ['natural', 'exit']) fork(${fixture('ending.js')}, [how])
     require(${fixture('spin.js')}).spin(500)`,
  )
  return ['run', NODE, 'parent.js', 'of', 'three']
}

test('a run ends with one trace of all its threads and a report', async () => {
  const cwd = temporaryDirectory()
  const { code, stdout, stderr } = await cli(family(cwd), { cwd })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  const [file] = runTraces(cwd)
  assert.match(stderr, /\n\S.* · 3 processes, 5 threads( · |\n)busy /)
  assert.match(stderr, /\n {2}parent\.js of three +\(\d+\) /)
  assert.match(stderr, /\n {4}worker 2: workers\.js /)
  assert.match(stderr, / (spin|burn) +\S*spin\.js:\d+\n/)
  const shown = path.relative(cwd, file)
  assert.match(stderr, new RegExp(`\ntrace: ${shown} \\(.* 3 processes, 5 threads\\)\n`))
  assert.doesNotMatch(stderr, /outlive/)

  const threads = await readMerged(file)
  assert.equal(threads.length, 5)
  for (const { functions } of threads) assert.ok(functions.has('spin'), [...functions].join())
  const urls = new Set(threads.map(({ url, pid }) => url.replace(String(pid), 'N')))
  assert.ok(urls.has('parent.js: of three (pid N)'), [...urls].join())
  assert.ok(urls.has('ending.js: natural (pid N)'))
  const labels = threads
    .filter(({ tid }) => tid > 0)
    .map(({ name, pid }) => name.replace(String(pid), 'N'))
  assert.deepEqual(labels.sort(), [
    'parent.js (pid N) - worker 1: workers.js',
    'parent.js (pid N) - worker 2: workers.js',
  ])
})

test('run accepts --output with .gz, and --quiet prints nothing', async () => {
  const cwd = temporaryDirectory()
  const [command, ...rest] = family(cwd)
  const result = await cli([command, '-q', '-o', 'all.json.gz', ...rest], { cwd })
  assert.equal(result.stderr, '')
  const text = zlib.gunzipSync(fs.readFileSync(path.join(cwd, 'all.json.gz'))).toString()
  assert.ok(JSON.parse(text).traceEvents.length > 10)
  assert.deepEqual(fs.readdirSync(cwd).sort(), ['all.json.gz', 'parent.js'])
})

test('a run keeps the trace of an earlier run; --output replaces a file', async () => {
  const cwd = temporaryDirectory()
  const traces = []
  for (const expected of ['trace.json', 'trace.2.json', 'trace.3.json']) {
    const { stderr } = await cli(['run', '--dir', 'd', NODE, '-e', '0'], { cwd })
    assert.ok(stderr.includes(`\ntrace: d/${expected} (`), stderr)
    traces.push(fs.readFileSync(path.join(cwd, 'd', expected), 'utf8'))
    assert.equal((await readMerged(path.join(cwd, 'd', expected))).length, 1)
  }
  assert.equal(fs.readFileSync(path.join(cwd, 'd', 'trace.json'), 'utf8'), traces[0])
  await cli(['run', '--dir', 'd', '-o', 'd/trace.json', NODE, '-e', '0'], { cwd })
  assert.notEqual(fs.readFileSync(path.join(cwd, 'd', 'trace.json'), 'utf8'), traces[0])
})

test('the merged trace never replaces a recording', async () => {
  for (const [name, output] of [
    ['x', 'd/x.trace.json'],
    ['x.trace.json', 'd/x.002.trace.json'],
    ['a/[%P]%%', './d/a/[12]%.cpuprofile'],
  ]) {
    const args = ['run', '--dir', 'd', '--name', name, '-o', output, NODE, '-e', '0']
    const { code, stderr, cwd } = await cli(args)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^cpu-prof: --output=\S+ is the name of a recording; choose another\n$/)
    assert.deepEqual(fs.readdirSync(cwd), [])
  }
  // Found only after the run, because the path contains a link.
  const cwd = temporaryDirectory()
  fs.mkdirSync(path.join(cwd, 'd'))
  fs.symlinkSync('d', path.join(cwd, 'link'))
  const args = ['--dir', 'd', '--name', 'x', '-o', 'link/x.trace.json', NODE, '-e', '0']
  const { code, stderr } = await cli(['run', ...args], { cwd })
  assert.equal(code, 0)
  assert.match(stderr, /^cpu-prof: no trace: .*x\.trace\.json is one of the recordings; .* in d\n$/)
  const recording = fs.readFileSync(path.join(cwd, 'd', 'x.trace.json'), 'utf8')
  assert.equal(JSON.parse(recording).source, undefined)
})

test('a thread recorded in both formats is merged once', async () => {
  const cwd = temporaryDirectory()
  const args = ['run', '--format', 'trace,cpuprofile', NODE, '-e', '0']
  const { stderr } = await cli(args, { cwd })
  assert.match(stderr, /\(.*1 process, 1 thread\)/)
  const only = await cli(['run', '--format', 'cpuprofile', NODE, '-e', '0'])
  assert.match(only.stderr, /\(.*1 process, 1 thread\)/)
})

test('a signal that ends the command is in the trace and ends the run', async () => {
  const cwd = temporaryDirectory()
  const code = "process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000)"
  const result = await cli(['run', NODE, '-e', `setTimeout(() => { ${code} }, 700)`], { cwd })
  assert.equal(result.signal, 'SIGKILL')
  assert.match(result.stderr, /\ntrace: /)
  assert.match(fs.readFileSync(runTraces(cwd)[0], 'utf8'), /"signal":"SIGKILL"/)
})

test('the exit code stays when the merged trace cannot be written', async () => {
  const cwd = temporaryDirectory()
  const code = "require('fs').writeFileSync('out', 'a file, not a folder'); process.exitCode = 5"
  const result = await cli(['run', '-o', 'out/trace.json', NODE, '-e', code], { cwd })
  assert.equal(result.code, 5)
  assert.match(result.stderr, /^cpu-prof: no trace: .*; the recordings are in profiles\/\S+\n$/)
})

test('a process that outlives the command is named', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(
    path.join(cwd, 'parent.js'),
    `const { spawn } = require('node:child_process')
     const child = spawn(process.execPath, ['-e', "process.send('up'); setTimeout(() => {}, 60000)"], {
       detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
     child.on('message', () => { console.log(child.pid); child.disconnect(); child.unref() })`,
  )
  const result = await cli(['run', NODE, 'parent.js'], { cwd })
  const pid = Number(result.stdout)
  try {
    assert.match(
      result.stderr,
      new RegExp(`\ncpu-prof: a process outlives the command .*: pid ${pid}\n`),
    )
  } finally {
    process.kill(pid)
  }
})

test('merge and convert work on recordings', async () => {
  const { cwd } = await run(['workers.js', 'natural'])
  const merged = await cli(['merge', '.', '-o', 'all.json'], { cwd })
  assert.equal(merged.code, 0, merged.stderr)
  assert.equal(path.resolve(cwd, merged.stdout.trim()), path.join(cwd, 'all.json'))
  assert.match(merged.stderr, /^cpu-prof: 1 process, 3 threads, .*\n$/)
  assert.equal((await readMerged(path.join(cwd, 'all.json'))).length, 3)

  const json = await cli(['merge', '-q', '--json', '.', '-o', 'again.json', '--to', '0.1s'], {
    cwd,
  })
  // The workers may have started later.
  const again = await readMerged(path.join(cwd, 'again.json'))
  assert.equal(JSON.parse(json.stdout).threads, again.length)
  const converted = await cli(['convert', 'all.json', '-o', 'all.collapsed'], { cwd })
  assert.equal(converted.code, 0, converted.stderr)
  const [file] = converted.stdout.trim().split('\n')
  assert.match(fs.readFileSync(file, 'utf8'), /;spin.* \d+\n/)
})

test('merge writes to stdout, into a pipe or a file, and keeps links', async () => {
  const { cwd } = await run(['ending.js', 'natural'])
  const piped = await cli(['merge', '.', '-o', '-'], { cwd })
  assert.equal(piped.code, 0, piped.stderr)
  const isWhole = (/** @type {string} */ text) =>
    JSON.parse(text).traceEvents.some((/** @type {any} */ { name }) => name === 'ProfileChunk')
  assert.ok(isWhole(piped.stdout))
  assert.match(piped.stderr, /^cpu-prof: 1 process, 1 thread, .*\n$/)

  const stdout = fs.lstatSync('/dev/stdout').ino
  const redirected = '"$0" "$1" merge CPU.* -o /dev/stdout > redirected.json'
  const bin = path.join(PACKAGE, 'bin', 'cpu-prof.js')
  execFileSync('sh', ['-c', redirected, NODE, bin], { cwd, stdio: 'ignore' })
  assert.ok(isWhole(fs.readFileSync(path.join(cwd, 'redirected.json'), 'utf8')))
  assert.equal(fs.lstatSync('/dev/stdout').ino, stdout)

  const [real, link] = ['real.json', 'link.json'].map((name) => path.join(cwd, name))
  fs.writeFileSync(real, 'old')
  fs.symlinkSync('real.json', link)
  const linked = await cli(['merge', '.', '-o', 'link.json'], { cwd })
  assert.equal(linked.code, 0, linked.stderr)
  assert.ok(fs.lstatSync(link).isSymbolicLink())
  assert.ok(isWhole(fs.readFileSync(real, 'utf8')))

  const both = await cli(['merge', '.', '-o', '-', '--json'], { cwd })
  assert.equal(both.code, 1)
  assert.equal(both.stderr, 'cpu-prof: --json and the trace cannot both go to stdout\n')
  assert.equal(both.stdout, '')
})

test('merge and convert fail with exit code 1 and leave no files', async () => {
  const cwd = temporaryDirectory()
  for (const args of [
    ['merge', 'missing.json', '-o', 'out.json'],
    ['merge', '.', '-o', 'out.json'],
    ['convert', 'missing.json', '-o', 'out.cpuprofile'],
  ]) {
    const { code, stdout, stderr } = await cli(args, { cwd })
    assert.equal(code, 1, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /^cpu-prof: .+\n$/)
    assert.deepEqual(fs.readdirSync(cwd), [])
  }
  assert.equal((await cli(['merge', '.'], { cwd })).code, 2)
})

test('a closed stdout is not a failure', async () => {
  const { cwd } = await run(['-e', '0'])
  for (const args of [
    ['merge', '-q', '.', '-o', 'all.json'],
    ['report', 'all.json'],
    ['convert', 'all.json', '-o', 'all.collapsed'],
    ['report', '--help'],
  ]) {
    const { code, stderr } = await cli(args, { cwd, during: unread('stdout') })
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
  }
})

test('a result that cannot be printed is a failure', {
  skip: !fs.existsSync('/dev/full'),
}, async () => {
  const { cwd } = await run(['-e', '0'])
  const under = ['sh', '-c', 'exec "$@" > /dev/full', 'sh']
  const { code, stderr } = await cli(['report', '.'], { cwd, under })
  assert.equal(code, 1)
  assert.match(stderr, /^cpu-prof: the result cannot be printed: ENOSPC.*\n$/)
})

test('a signal during a merge leaves no partial file', async () => {
  const { files, cwd } = await run(['ending.js', 'natural'])
  const big = path.join(temporaryDirectory(), 'big.trace.json')
  const lines = fs.readFileSync(files[0], 'utf8').split('\n')
  const chunk = `${lines.find((line) => line.includes('"name":"ProfileChunk"'))?.replace(/,$/, '')},\n`
  const start = lines.slice(0, lines.length - 1).join('\n')
  fs.writeFileSync(big, `${start},\n${chunk.repeat(1e8 / chunk.length)}{}]}`)
  const child = cli(['merge', big, '-o', 'out.json.gz'], {
    cwd,
    during: async (child) => {
      while (!fs.readdirSync(cwd).some((file) => file.endsWith('.partial'))) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      child.kill('SIGTERM')
    },
  })
  const { signal, stdout } = await child
  assert.deepEqual([signal, stdout], ['SIGTERM', ''])
  assert.deepEqual(
    fs.readdirSync(cwd).filter((file) => /out\.json|partial/.test(file)),
    [],
  )
})

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

test('DevTools shows each process and thread of a run by name', { skip }, async (t) => {
  const cwd = temporaryDirectory()
  await cli(family(cwd), { cwd })
  const devtools = await openDevTools(/** @type {string} */ (chromium))
  t.after(() => devtools.close())
  const pictures = path.join(PACKAGE, 'target', 'screenshots')
  fs.mkdirSync(pictures, { recursive: true })
  const [processes, ...tracks] = await devtools.load(
    runTraces(cwd)[0],
    path.join(pictures, 'merged.png'),
  )
  assert.equal(processes.name, 'Processes')
  assert.equal(processes.functions.length, 5)
  const names = tracks.map(({ name }) => name.replace(/pid \d+/, 'pid N'))
  // DevTools orders the main threads by their numbers of entries.
  assert.deepEqual(names.slice(0, 3).sort(), [
    'Main — ending.js: exit (pid N)',
    'Main — ending.js: natural (pid N)',
    'Main — parent.js: of three (pid N)',
  ])
  assert.deepEqual(names.slice(3).sort(), [
    'parent.js (pid N) - worker 1: workers.js',
    'parent.js (pid N) - worker 2: workers.js',
  ])
  assert.ok(tracks[0].isOpen)
  for (const { name, functions } of tracks) assert.ok(functions.includes('spin'), name)
})

test('inputs have names, and begin together', async () => {
  const cwd = temporaryDirectory()
  for (const dir of ['a', 'b']) {
    const code = 'require(process.argv[1]).spin(200)'
    const spin = path.join(FIXTURES, 'spin.js')
    const { stderr } = await cli(['run', '-q', '--dir', dir, NODE, '-e', code, spin], { cwd })
    assert.equal(stderr, '')
  }
  const merge = (/** @type {string[]} */ ...args) =>
    cli(['merge', '-o', 'ab.json', ...args], { cwd })
  const names = ['--name', 'base=a', '--name', 'head=b']
  const apart = await merge(...names)
  assert.equal(apart.code, 0, apart.stderr)
  const starts = async () => {
    const threads = await readMerged(path.join(cwd, 'ab.json'))
    return threads
      .map(({ url, startUs }) => ({ name: /\[(\w+)\]/.exec(url)?.[1], startUs }))
      .sort((one, other) => (one.name ?? '').localeCompare(other.name ?? ''))
  }
  const [base, head] = await starts()
  assert.deepEqual([base.name, head.name], ['base', 'head'])
  assert.ok(head.startUs - base.startUs > 200_000, `${head.startUs - base.startUs} µs`)

  await merge(...names, '--align', 'start')
  const aligned = await starts()
  assert.deepEqual(
    aligned.map(({ startUs }) => startUs),
    [base.startUs, base.startUs],
  )
  const shown = await cli(['report', 'ab.json', '--json'], { cwd })
  const commands = JSON.parse(shown.stdout).processes.map((/** @type {any} */ one) => one.command)
  assert.ok(commands.every((/** @type {string} */ command) => /\[(base|head)\]$/.test(command)))

  for (const [args, reason] of /** @type {[string[], RegExp][]} */ ([
    [[], /needs inputs/],
    [['--name', 'a'], /Use a label and an input/],
    [['--name', '=a'], /Use a label and an input/],
    [['--name', 'x=missing'], /missing.*does not exist/s],
    [['a', '--align', 'end'], /--align/],
  ])) {
    const { code, stderr } = await merge(...args)
    assert.notEqual(code, 0)
    assert.match(stderr, reason)
  }
})
