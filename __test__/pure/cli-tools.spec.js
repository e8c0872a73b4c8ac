'use strict'

// The commands `merge`, `convert` and `report` on written recordings: what they print, write and return.

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { files } = require('../../package.json')
const { cli, unread, BIN } = require('../helpers/cli.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { readMerged } = require('../helpers/merged.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeTrace } = require('../helpers/written.js')

const NODE = process.execPath

/** Writes the recordings of a program and its two workers, of which one starts later, into a new folder. */
function writeWorkers() {
  const cwd = temporaryDirectory()
  const write = (/** @type {import('../helpers/written.js').Recorded} */ thread) =>
    writeTrace(path.join(cwd, `CPU.7.${thread.tid}.trace.json`), { label: 'app.js', ...thread })
  write({
    tid: 0,
    spans: [
      ['main app.js:1', 20],
      ['(idle)', 400],
    ],
  })
  write({ tid: 1, start: 1e9 + 50_000, spans: [['crunch app.js:5 > spin spin.js:1', 100]] })
  write({ tid: 2, start: 1e9 + 250_000, spans: [['crunch app.js:5 > spin spin.js:1', 100]] })
  return cwd
}

/** Writes one recording into a new folder. */
function writeOne() {
  const cwd = temporaryDirectory()
  writeTrace(path.join(cwd, 'CPU.7.0.trace.json'), {
    spans: [['main app.js:1 > work app.js:2', 30]],
  })
  return cwd
}

test('merge and convert write a file, and say what is in it', async () => {
  const cwd = writeWorkers()
  const merged = await cli(['merge', '.', '-o', 'all.json'], { cwd })
  assert.equal(merged.code, 0, merged.stderr)
  assert.equal(path.resolve(cwd, merged.stdout.trim()), path.join(cwd, 'all.json'))
  assert.match(merged.stderr, /^cpu-prof: 1 process, 3 threads, .*\n$/)
  assert.equal((await readMerged(path.join(cwd, 'all.json'))).threads.length, 3)

  const converted = await cli(['convert', 'all.json', '-o', 'all.collapsed'], { cwd })
  assert.equal(converted.code, 0, converted.stderr)
  const [file] = converted.stdout.trim().split('\n')
  const stack = 'crunch (/project/app.js:5);spin (/project/spin.js:1) 100000'
  assert.deepEqual(fs.readFileSync(file, 'utf8').trim().split('\n').sort(), [
    'app.js (pid 7) - main;(idle) 400000',
    'app.js (pid 7) - main;main (/project/app.js:1) 20000',
    `app.js (pid 7) - worker 1;${stack}`,
    `app.js (pid 7) - worker 2;${stack}`,
  ])
})

test('merge takes a slice, and prints JSON', async () => {
  const cwd = writeWorkers()
  const args = ['merge', '-q', '--json', '.', '-o', 'all.json', '--to', '0.1s']
  const { code, stdout, stderr } = await cli(args, { cwd })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(JSON.parse(stdout).threads, 2)
  const { threads } = await readMerged(path.join(cwd, 'all.json'))
  assert.deepEqual(
    threads.map((/** @type {any} */ { tid }) => tid),
    [0, 1],
  )
})

test('merge writes to stdout, into a pipe or a file, and keeps links', async () => {
  const cwd = writeOne()
  const piped = await cli(['merge', '.', '-o', '-'], { cwd })
  assert.equal(piped.code, 0, piped.stderr)
  const isWhole = (/** @type {string} */ text) =>
    JSON.parse(text).traceEvents.some((/** @type {any} */ { name }) => name === 'ProfileChunk')
  assert.ok(isWhole(piped.stdout))
  assert.match(piped.stderr, /^cpu-prof: 1 process, 1 thread, .*\n$/)

  const stdout = fs.lstatSync('/dev/stdout').ino
  const redirected = '"$0" "$1" merge CPU.* -o /dev/stdout > redirected.json'
  execFileSync('sh', ['-c', redirected, NODE, BIN], { cwd, stdio: 'ignore' })
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
  const cwd = writeOne()
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
  const cwd = writeOne()
  const under = ['sh', '-c', 'exec "$@" > /dev/full', 'sh']
  const { code, stderr } = await cli(['report', '.'], { cwd, under })
  assert.equal(code, 1)
  assert.match(stderr, /^cpu-prof: the result cannot be printed: ENOSPC.*\n$/)
})

/** Size of a trace whose merge, with compression, takes seconds. */
const BIG = 1e8

test('a signal during a merge leaves no partial file', async () => {
  const cwd = temporaryDirectory()
  const lines = recording({ spans: [['main app.js:1 > work app.js:2', 500]] }).split('\n')
  const chunk = `${lines.find((line) => line.includes('"name":"ProfileChunk"'))},\n`.replace(
    /,,\n$/,
    ',\n',
  )
  const start = lines.slice(0, -1).join('\n')
  fs.writeFileSync(
    path.join(cwd, 'big.trace.json'),
    `${start},\n${chunk.repeat(BIG / chunk.length)}{}]}`,
  )
  const { signal, stdout } = await cli(['merge', 'big.trace.json', '-o', 'out.json.gz'], {
    cwd,
    during: async (child) => {
      const isWriting = () => fs.readdirSync(cwd).some((file) => file.endsWith('.partial'))
      while (!isWriting() && child.exitCode === null) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      child.kill('SIGTERM')
    },
  })
  assert.deepEqual([signal, stdout], ['SIGTERM', ''])
  assert.deepEqual(fs.readdirSync(cwd), ['big.trace.json'])
})

test('inputs have names', async () => {
  const cwd = temporaryDirectory()
  const start = 1e9
  for (const [pid, dir, later] of /** @type {const} */ ([
    [7, 'a', 0],
    [8, 'b', 300_000],
  ])) {
    writeTrace(path.join(cwd, dir, 'x.trace.json'), { pid, start: start + later })
  }
  const merge = (/** @type {string[]} */ ...args) =>
    cli(['merge', '-o', 'ab.json', ...args], { cwd })
  const starts = async () => {
    const { threads } = await readMerged(path.join(cwd, 'ab.json'))
    const named = (/** @type {any} */ { url, startUs }) => [/\[(\w+)\]/.exec(url)?.[1], startUs]
    return threads.map(named).sort()
  }
  // Any text is a label.
  const odd = await merge('--name', '__proto__=a', '--name', '__proto__=b')
  assert.equal(odd.code, 0, odd.stderr)
  assert.deepEqual(await starts(), [
    ['__proto__', start],
    ['__proto__', start + 300_000],
  ])
  const names = ['--name', 'base=a', '--name', 'head=b']
  const apart = await merge(...names)
  assert.equal(apart.code, 0, apart.stderr)
  assert.deepEqual(await starts(), [
    ['base', start],
    ['head', start + 300_000],
  ])
  const shown = await cli(['report', 'ab.json', '--json'], { cwd })
  const commands = JSON.parse(shown.stdout).processes.map((/** @type {any} */ one) => one.command)
  assert.deepEqual(commands.sort(), ['app [base]', 'app [head]'])

  for (const [args, reason] of /** @type {[string[], RegExp][]} */ ([
    [[], /needs inputs/],
    [['--name', 'a'], /Use a label and an input/],
    [['--name', '=a'], /Use a label and an input/],
    [['--name', 'x=missing'], /missing.*does not exist/s],
  ])) {
    const { code, stderr } = await merge(...args)
    assert.notEqual(code, 0)
    assert.match(stderr, reason)
  }
})

test('help and version go to stdout; a missing command is wrong usage', async () => {
  const version = await cli(['--version'])
  assert.equal(version.stdout, `${require('../../package.json').version}\n`)
  const nothing = await cli([])
  assert.equal(nothing.code, 2)
  assert.match(nothing.stderr, /^Usage: cpu-prof <command>/)
  for (const [words, answer] of /** @type {[string[], string][]} */ ([
    [['node', '-e', '1'], 'cpu-prof run node -e 1'],
    [['vitest', 'run', '--dir', 'my tests'], "cpu-prof run vitest run --dir 'my tests'"],
  ])) {
    const { code, stderr } = await cli(words)
    assert.equal(code, 2)
    assert.ok(stderr.endsWith(`; to profile a program: ${answer}\n`), stderr)
  }
  assert.match((await cli(['--bogus'])).stderr, /^cpu-prof: unknown option '--bogus'/)
})

test('without an addon the program and its commands have their help, and a call says what is missing', () => {
  const copy = temporaryDirectory()
  for (const name of [...files, 'package.json']) {
    fs.cpSync(path.join(PACKAGE, name), path.join(copy, name), { recursive: true })
  }
  fs.symlinkSync(path.join(PACKAGE, 'node_modules'), path.join(copy, 'node_modules'))
  const call = (/** @type {string[]} */ ...args) => {
    const options = { env: cleanEnv(), encoding: /** @type {const} */ ('utf8') }
    return spawnSync(NODE, [path.join(copy, 'bin', 'cpu-prof.js'), ...args], options)
  }
  for (const args of [['--version'], ['--help'], ['merge', '--help'], ['report', '--help']]) {
    const { status, stderr } = call(...args)
    assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  }
  for (const args of [
    ['run', '--interval', '5', NODE],
    ['convert', 'a.json', '-o', 'b.json'],
    ['merge', 'a.json', '-o', 'b.json'],
  ]) {
    const { status, stderr } = call(...args)
    assert.equal(status, 1, args.join(' '))
    assert.match(
      stderr,
      pattern`^cpu-prof: the addon cpu-prof-tools\.\S+\.node ${messages.notBuilt} .*\n$`,
    )
  }
})
