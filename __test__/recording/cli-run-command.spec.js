'use strict'

// What `cpu-prof run` does with its command: files, arguments, environment and ending.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, unread, BIN } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { run, cleanEnv, temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/run.js')
const { withPreload } = require('../../cli/run/prepare/plan.js')

const NODE = process.execPath

test('the command keeps its input, output and exit code, and every process is recorded', async () => {
  const code = `
    process.stdin.pipe(process.stdout)
    process.stdin.on('end', () => {
      require('node:child_process').spawnSync(process.execPath, ['-e', '0'])
      console.error('to stderr')
      process.exitCode = 3
    })`
  const result = await cli(['run', '--no-merge', NODE, '-e', code], { input: 'through' })
  assert.equal(result.code, 3)
  assert.equal(result.stdout, 'through')
  assert.match(result.stderr, /^to stderr\ncpu-prof: 2 recordings in profiles\/\S+ \(/)
  const [ignored, ...runs] = fs.readdirSync(path.join(result.cwd, 'profiles')).sort()
  assert.equal(ignored, '.gitignore')
  assert.equal(runs.length, 1)
  assert.match(runs[0], /^\d{8}\.\d{6}\.\d+$/)
  assert.equal(tracesIn(path.join(result.cwd, 'profiles', runs[0])).length, 2)
})

test('run itself is not recorded, and the command sees only its own arguments', async () => {
  const shown = 'console.log(JSON.stringify([process.execArgv, process.argv.slice(2)]))'
  const file = path.join(temporaryDirectory(), 'show.js')
  fs.writeFileSync(file, shown)
  const args = ['--no-merge', '-q', '--', '--dir', '--help', '-x']
  const result = await cli([
    'run',
    '-q',
    '--no-merge',
    '--dir',
    'd',
    NODE,
    '--no-warnings',
    file,
    ...args,
  ])
  assert.deepEqual(JSON.parse(result.stdout), [['--no-warnings'], args])
  assert.equal(result.stderr, '')
  assert.equal(tracesIn(path.join(result.cwd, 'd')).length, 1)
})

test('options of run reach the recordings', async () => {
  const settings = [
    '--interval',
    '200',
    '--flush-interval=50',
    '--name',
    'x-%T',
    '--ignore-list',
    'show',
  ]
  const cwd = temporaryDirectory()
  await cli(['run', '--no-merge', '--dir', 'a b', ...settings, NODE, '-e', '0'], { cwd })
  const [file] = tracesIn(path.join(cwd, 'a b'))
  assert.equal(path.basename(file), 'x-0.trace.json')
  assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).metadata['cpu-prof'].intervalUs, 200)
})

test('run keeps the existing NODE_OPTIONS', async () => {
  const code = 'console.log(process.title, process.execArgv.length)'
  const result = await cli(['run', '--no-merge', NODE, '-e', code], {
    env: { NODE_OPTIONS: '--title="of mine"' },
  })
  assert.equal(result.stdout, 'of mine 2\n')
  assert.match(result.stderr, /^cpu-prof: 1 recording in /)
})

test('a path with spaces, quotes and backslashes can be preloaded', async () => {
  const link = path.join(temporaryDirectory('cpu prof '), 'a "b" \\c')
  fs.symlinkSync(PACKAGE, link)
  const options = withPreload('--no-warnings', path.join(link, 'index.js'))
  const { traces, stdout } = await run(['-p', 'process.env.NODE_OPTIONS'], {
    preload: null,
    env: { NODE_OPTIONS: options },
  })
  assert.equal(stdout, `${options}\n`)
  assert.equal(traces.length, 1)
  assert.equal(withPreload('', '/plain'), '--require /plain')
  // Only Yarn's preload finds the packages of a project with Plug'n'Play.
  const [yarn, rest] = ['--require "/a b/.pnp.cjs"', ' --experimental-loader file:///l.mjs']
  assert.equal(withPreload(yarn + rest, '/plain'), `${yarn} --require /plain${rest}`)
  assert.equal(withPreload('-r /a/.pnp.cjs', '/plain'), '-r /a/.pnp.cjs --require /plain')
  assert.equal(withPreload('-r /a/pnp.cjs', '/plain'), '--require /plain -r /a/pnp.cjs')
})

test('a command without Node processes is reported and leaves no files', async () => {
  const result = await cli(['run', '--', 'sh', '-c', 'cat; exit 4'], { input: 'in' })
  assert.equal(result.code, 4)
  assert.equal(result.stdout, 'in')
  assert.equal(
    result.stderr,
    `cpu-prof: ${messages.noneRecorded}: sh started none, or changed their NODE_OPTIONS\n`,
  )
  assert.deepEqual(fs.readdirSync(result.cwd), [])
})

test('run keeps the exit code of the command when stderr is closed', async () => {
  for (const [args, expected] of /** @type {[string[], number][]} */ ([
    [[NODE, '-e', 'process.exitCode = 3'], 3],
    [['--no-merge', NODE, '-e', 'process.exitCode = 3'], 3],
    [['true'], 0],
    [['no-such-program'], 127],
    [['--intervall', '5', 'true'], 2],
  ])) {
    const { code } = await cli(['run', ...args], { during: unread('stderr') })
    assert.equal(code, expected, args.join(' '))
  }
})

test('a command that cannot be started is named and exits with 126 or 127', async () => {
  const missing = await cli(['run', 'no-such-program', '--help'])
  assert.equal(missing.code, 127)
  assert.match(missing.stderr, pattern`^cpu-prof: ${messages.notOnPath('no-such-program')}; .*\n$`)
  assert.deepEqual(fs.readdirSync(missing.cwd), [])

  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'text'), 'no program')
  const text = await cli(['run', './text'], { cwd })
  assert.equal(text.code, 126)
  assert.match(text.stderr, /^cpu-prof: \.\/text cannot be run: .*EACCES.*\n$/)

  fs.writeFileSync(path.join(cwd, 'script'), '#!/no/such/interpreter\n', { mode: 0o755 })
  const script = await cli(['run', './script'], { cwd })
  assert.equal(script.code, 127)
  assert.match(script.stderr, /the interpreter in its first line does not exist\n$/)
})

test('run keeps the exit code of a command that removes this package', async () => {
  // With an inherited file the addon is loaded before the command, without one after it.
  for (const isInherited of [false, true]) {
    const copy = temporaryDirectory()
    for (const name of fs.readdirSync(PACKAGE)) {
      const isPart = /^(bin|cli|lib|.*\.(js|json|node))$/.test(name)
      if (isPart) fs.cpSync(path.join(PACKAGE, name), path.join(copy, name), { recursive: true })
    }
    const code = `require('node:fs').rmSync(${JSON.stringify(copy)}, { recursive: true })
      process.exitCode = 8`
    const args = [path.join(copy, 'bin', 'cpu-prof.js'), 'run', NODE, '-e', code]
    const { status, stderr } = spawnSync(NODE, args, {
      cwd: temporaryDirectory(),
      env: cleanEnv(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe', isInherited ? 'pipe' : 'ignore'],
    })
    assert.equal(status, 8, stderr)
    assert.match(
      stderr,
      pattern`^cpu-prof: no trace: the command removed this package; ${messages.recordingsIn} /\S+\n$`,
    )
  }
})

test('a nested run is part of the outer run', async () => {
  const inner = ['run', '--interval', '500', NODE, '-e', '0']
  const result = await cli(['run', '--no-merge', '--dir', 'd', NODE, BIN, ...inner])
  assert.equal(result.code, 0)
  // Only the outer run prints a summary.
  assert.match(result.stderr, /^cpu-prof: 2 recordings in d .*\n$/)
  assert.ok(!fs.existsSync(path.join(result.cwd, 'profiles')))
  const own = ['run', '--no-merge', '--dir', 'e', NODE, '-e', '0']
  const separate = await cli(['run', '--no-merge', '--dir', 'd', NODE, BIN, ...own])
  assert.match(separate.stderr, /^cpu-prof: 1 recording in e .*\ncpu-prof: 1 recording in d .*\n$/)
})

test('the command inherits the files that run has inherited, under the same numbers', () => {
  const dir = temporaryDirectory()
  const file = path.join(dir, 'input.txt')
  fs.writeFileSync(file, 'through a file')
  const read = "process.stdout.write(require('node:fs').readFileSync(9))"
  const shell = `exec 9< ${file}; exec "$@"`
  const under = (/** @type {string[]} */ ...command) => {
    const { stdout, stderr } = spawnSync('sh', ['-c', shell, 'sh', ...command], {
      cwd: dir,
      env: cleanEnv(),
      encoding: 'utf8',
    })
    assert.equal(stdout, 'through a file', stderr)
  }
  under(NODE, '-e', read)
  under(NODE, BIN, 'run', '-q', NODE, '-e', read)
  // Numbers between are not opened.
  const result = spawnSync(
    'sh',
    ['-c', shell, 'sh', NODE, BIN, 'run', '-q', 'sh', '-c', 'test -e /proc/self/fd/8'],
    { cwd: dir, env: cleanEnv() },
  )
  assert.equal(result.status, 1)
})
