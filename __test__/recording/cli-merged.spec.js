'use strict'

// The one trace that `cpu-prof run` makes of all recordings.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { runTraces, readThreads } = require('../helpers/run-traces.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

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
     require(${fixture('spin.js')}).spin()`,
  )
  return ['run', NODE, 'parent.js', 'of', 'three']
}

test('a run ends with one trace of all its threads and a report', async () => {
  const cwd = temporaryDirectory()
  const { code, stdout, stderr } = await cli(family(cwd), { cwd })
  assert.equal(code, 0, stderr)
  assert.equal(stdout, '')
  const [file] = runTraces(cwd)
  assert.match(stderr, /\n\S.* · 3 processes, 5 threads( · |\n)JavaScript /)
  assert.match(stderr, /\n {2}parent\.js of three +\(\d+\) /)
  // The busier of the workers has a row, unless its process has more rows before. Its busiest file follows where
  // that of the other worker is another one, and shortens the name.
  assert.match(stderr, /\n {4}worker [12]: wo(rkers\.js |[a-z.]*… · )|\n {2}and 2 more threads/)
  assert.match(stderr, / (spin|burn) +\S*spin\.js:\d+\n/)
  const shown = path.relative(cwd, file)
  assert.match(stderr, new RegExp(`\ntrace: ${shown} \\(.* 3 processes, 5 threads\\)\n`))
  assert.doesNotMatch(stderr, /outlive/)

  const threads = await readThreads(file)
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
  const { cwd, stderr } = await cli(['run', '-q', '-o', 'all.json.gz', NODE, '-e', '0'])
  assert.equal(stderr, '')
  assert.equal((await readThreads(path.join(cwd, 'all.json.gz'))).length, 1)
  assert.deepEqual(fs.readdirSync(cwd), ['all.json.gz'])
})

test('run --html writes the page, and names it last', async () => {
  const args = ['run', '--dir', 'out', '--html', 'out/page.html', NODE, '-e', '0']
  const { code, cwd, stderr } = await cli(args)
  assert.equal(code, 0, stderr)
  assert.match(stderr, /\npage: out\/page\.html.*\n$/)
  assert.match(fs.readFileSync(path.join(cwd, 'out', 'page.html'), 'utf8'), /^<!doctype html>/)
})

test('a run keeps the trace of an earlier run; --output replaces a file', async () => {
  const cwd = temporaryDirectory()
  const traces = []
  for (const expected of ['trace.json', 'trace.2.json', 'trace.3.json']) {
    const { stderr } = await cli(['run', '--dir', 'd', NODE, '-e', '0'], { cwd })
    assert.ok(stderr.includes(`\ntrace: d/${expected} (`), stderr)
    traces.push(fs.readFileSync(path.join(cwd, 'd', expected), 'utf8'))
    assert.equal((await readThreads(path.join(cwd, 'd', expected))).length, 1)
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
    assert.match(stderr, pattern`^cpu-prof: --output=\S+ ${messages.isRecording}\n$`)
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
  // Ends once the recording has its first samples.
  const code = `
    const fs = require('node:fs')
    setInterval(() => {
      const [name] = fs.readdirSync('d').filter((name) => name.endsWith('.trace.json'))
      const isFlushed = name !== undefined && fs.readFileSync('d/' + name, 'utf8').includes('thread.flush')
      if (isFlushed) process.kill(process.pid, 'SIGKILL')
    }, 20)`
  const { signal, stderr, cwd } = await cli(['run', '--dir', 'd', NODE, '-e', code])
  assert.equal(signal, 'SIGKILL')
  assert.match(stderr, /\ntrace: /)
  assert.match(fs.readFileSync(path.join(cwd, 'd', 'trace.json'), 'utf8'), /"signal":"SIGKILL"/)
})

test('the exit code stays when the merged trace cannot be written', async () => {
  const cwd = temporaryDirectory()
  const code = "require('fs').writeFileSync('out', 'a file, not a folder'); process.exitCode = 5"
  const result = await cli(['run', '-o', 'out/trace.json', NODE, '-e', code], { cwd })
  assert.equal(result.code, 5)
  assert.match(
    result.stderr,
    pattern`^cpu-prof: no trace: .*; ${messages.recordingsIn} profiles/\S+\n$`,
  )
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
    assert.match(result.stderr, pattern`\ncpu-prof: ${messages.outlives} .*: pid ${pid}\n`)
  } finally {
    process.kill(pid)
  }
})
