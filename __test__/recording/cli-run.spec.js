'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, unread, BIN } = require('../helpers/cli.js')
const {
  run,
  cleanEnv,
  temporaryDirectory,
  tracesIn,
  FIXTURES,
  PACKAGE,
} = require('../helpers/run.js')
const { withPreload } = require('../../cli/run/environment.js')

const NODE = process.execPath
const ENDING = path.join(FIXTURES, 'ending.js')

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
  await cli(['run', '--no-merge', '--dir', 'a b', ...settings, NODE, ENDING, 'natural', '10'], {
    cwd,
  })
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
})

test('a command without Node processes is reported and leaves no files', async () => {
  const result = await cli(['run', '--', 'sh', '-c', 'cat; exit 4'], { input: 'in' })
  assert.equal(result.code, 4)
  assert.equal(result.stdout, 'in')
  assert.equal(
    result.stderr,
    'cpu-prof: no Node process was recorded: sh started none, or changed their NODE_OPTIONS\n',
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

test('a removed working directory is an error only where a path needs it', async () => {
  const dir = path.join(temporaryDirectory(), 'd')
  const trace = new RegExp(`\ntrace: ${dir}/trace`)
  const inRemoved = (/** @type {string[]} */ args) => {
    const cwd = temporaryDirectory()
    return cli(args, { cwd, under: ['sh', '-c', 'rmdir "$0"; exec "$@"', cwd] })
  }
  const beforeStart = await inRemoved(['run', '--dir', dir, NODE, '-e', 'process.exitCode = 4'])
  assert.equal(beforeStart.code, 4)
  assert.match(beforeStart.stderr, trace)

  const cwd = temporaryDirectory()
  const command = ['sh', '-c', 'rmdir "$0"; "$1" -e "process.exitCode = 3"', cwd, NODE]
  const whileRunning = await cli(['run', '--dir', dir, ...command], { cwd })
  assert.equal(whileRunning.code, 3)
  assert.match(whileRunning.stderr, trace)

  const report = await inRemoved(['report', dir])
  assert.equal(report.code, 0, report.stderr)

  for (const [args, option] of /** @type {[string[], string][]} */ ([
    [[], '--dir'],
    [['--dir', 'd'], '--dir'],
    [['--dir', dir, '-o', 'x.json'], '--output'],
  ])) {
    const { code, stdout, stderr } = await inRemoved(['run', ...args, 'echo'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(
      stderr,
      `cpu-prof: the working directory no longer exists; use an absolute path for ${option}\n`,
    )
  }
})

test('a command that cannot be started is named and exits with 126 or 127', async () => {
  const missing = await cli(['run', 'no-such-program', '--help'])
  assert.equal(missing.code, 127)
  assert.match(missing.stderr, /^cpu-prof: no-such-program was not found on the PATH; .*\n$/)
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

test('wrong usage is reported before the command starts, with the nearest option', async () => {
  for (const [args, expected] of /** @type {[string[], RegExp][]} */ ([
    [['--intervall', '5', 'echo'], /unknown option '--intervall'\n\(Did you mean --interval\?\)/],
    [['--interval', '0', 'echo'], /--interval=0 is not valid: .* from 1 to 1000000 is allowed/],
    [['--flush-interval', '1', 'echo'], /--flush-interval=1 is not valid/],
    [['--format', 'pprof', 'echo'], /--format=pprof is not valid/],
    [['--output', '.', 'echo'], /--output=\. is a folder/],
    [['--output', '/dev/null', 'echo'], /--output=\/dev\/null is not a regular file/],
    [['--output', 'file/trace.json', 'echo'], /--output=file\S+ .*: \/\S+\/file is not a folder/],
    [
      ['--output', 'file/a/b/trace.json', 'echo'],
      /--output=file\S+ .*: \/\S+\/file is not a folder/,
    ],
    [['--output=', 'echo'], /--output= is a folder/],
    [
      ['--dir', 'file/dir', 'echo'],
      /recordings cannot be written into .*file\/dir: .*another --dir/,
    ],
    [[], /missing required argument 'command'/],
  ])) {
    const cwd = temporaryDirectory()
    fs.writeFileSync(path.join(cwd, 'file'), '')
    const result = await cli(['run', ...args], { cwd })
    assert.equal(result.code, 2, result.stderr)
    assert.match(result.stderr, /^cpu-prof: /)
    assert.match(result.stderr, expected)
    assert.equal(result.stdout, '')
    assert.deepEqual(fs.readdirSync(cwd), ['file'])
  }
})

test('a wrong variable is reported before the command starts', async () => {
  const result = await cli(['run', 'echo'], { env: { CPU_PROF_INTERVAL: 'fast' } })
  assert.equal(result.code, 2)
  assert.match(result.stderr, /^cpu-prof: CPU_PROF_INTERVAL=fast is not valid: .*\n$/)
})

test('an existing folder keeps its files, which are not counted', async () => {
  const cwd = temporaryDirectory()
  const args = ['run', '--no-merge', '--dir', 'd', NODE, '-e', '0']
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  assert.equal(tracesIn(path.join(cwd, 'd')).length, 2)
  const variable = await cli(
    args.filter((arg) => arg !== '--dir' && arg !== 'd'),
    {
      cwd,
      env: { CPU_PROF_DIR: 'd' },
    },
  )
  assert.match(variable.stderr, /1 recording in d /)
})

test('recordings in subfolders are found, but only those of this run', async () => {
  const cwd = temporaryDirectory()
  const args = ['run', '--no-merge', '--dir', 'd', '--name', 'a/%P/x', NODE, '-e', '0']
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  const pids = fs.readdirSync(path.join(cwd, 'd', 'a'))
  assert.equal(pids.length, 2)
  assert.deepEqual(fs.readdirSync(path.join(cwd, 'd', 'a', pids[0])), ['x.trace.json'])
  const variable = await cli(['run', NODE, '-e', '0'], { cwd, env: { CPU_PROF_NAME: 'a/x' } })
  assert.match(variable.stderr, /\ntrace: profiles\/.*1 process, 1 thread/)
})

for (const [how, name, place] of [
  ['an absolute name', '{cwd}/up/%P/x', 'up'],
  ['a name that leads out of the folder', '../up/%P/x', 'up'],
  ['an absolute name with the process id', '{cwd}/up/x'.concat('$', '{pid}'), 'up'],
]) {
  test(`${how}: the recordings there are found, but only those of this run`, async () => {
    const cwd = temporaryDirectory()
    fs.mkdirSync(path.join(cwd, place))
    const neighbour = path.join(cwd, place, 'other.trace.json')
    const code = `require('node:fs').writeFileSync(${JSON.stringify(neighbour)}, '')`
    const all = ['--dir', 'd', '--name', name.replace('{cwd}', cwd)]
    const args = (/** @type {string[]} */ ...more) => ['run', ...all, ...more, NODE, '-e', code]
    for (const count of [1, 2]) {
      const { stderr } = await cli(args('--no-merge'), { cwd })
      assert.match(stderr, /: 1 recording in up \(to merge: cpu-prof merge up -o trace\.json\)\n$/)
      const files = fs.readdirSync(path.join(cwd, place), { recursive: true }).map(String)
      const traces = files.filter((file) => file.endsWith('.trace.json'))
      assert.equal(traces.length, count + 1, files.join())
      assert.deepEqual(fs.readdirSync(cwd), ['up'], 'an empty folder was left')
    }
    assert.match(
      (await cli(args(), { cwd })).stderr,
      /\ntrace: d\/trace\.json \(.*1 process, 1 thread/,
    )
    const output = path.join('up', name.includes('%P') ? '7/x' : 'x7')
    const taken = await cli(args('--output', `${output}.trace.json`), { cwd })
    assert.equal(taken.code, 2)
    assert.match(taken.stderr, /is the name of a recording; choose another\n$/)
  })
}

test('a recordings folder removed by the command is reported', async () => {
  const code = "require('node:fs').rmSync('d', { recursive: true }); process.exitCode = 6"
  const result = await cli(['run', '--dir', 'd', NODE, '-e', code])
  assert.equal(result.code, 6)
  assert.equal(
    result.stderr,
    `cpu-prof: the recordings' folder is gone: ${path.join(result.cwd, 'd')}\n`,
  )
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
      /^cpu-prof: no trace: the command removed this package; the recordings are in \/\S+\n$/,
    )
  }
})

test('a new folder gets a .gitignore, an existing folder does not', async () => {
  const { cwd } = await cli(['run', '--no-merge', '--dir', 'new', NODE, '-e', '0'])
  assert.equal(fs.readFileSync(path.join(cwd, 'new', '.gitignore'), 'utf8'), '*\n')
  fs.mkdirSync(path.join(cwd, 'old'))
  await cli(['run', '--no-merge', '--dir', 'old', NODE, '-e', '0'], { cwd })
  assert.ok(!fs.existsSync(path.join(cwd, 'old', '.gitignore')))
  // The user's own file says nothing about the new folder.
  fs.writeFileSync(path.join(cwd, '.gitignore'), 'node_modules\n')
  await cli(['run', '--no-merge', '--dir', 'own', NODE, '-e', '0'], { cwd })
  assert.ok(fs.existsSync(path.join(cwd, 'own', '.gitignore')))
})

test('all runs of a workspace share one .gitignore', async () => {
  const { cwd } = await cli(['run', '-q', NODE, '-e', '0'])
  await cli(['run', '-q', NODE, '-e', '0'], { cwd })
  const [ignored, ...runs] = fs.readdirSync(path.join(cwd, 'profiles')).sort()
  assert.equal(ignored, '.gitignore')
  assert.equal(runs.length, 2)
  for (const run of runs) {
    assert.deepEqual(fs.readdirSync(path.join(cwd, 'profiles', run)), ['trace.json'])
  }
})

test('a nested run is part of the outer run', async () => {
  const { BIN } = require('../helpers/cli.js')
  const inner = ['run', '--interval', '500', NODE, ENDING, 'natural', '10']
  const result = await cli(['run', '--no-merge', '--dir', 'd', NODE, BIN, ...inner])
  assert.equal(result.code, 0)
  // Only the outer run prints a summary.
  assert.match(result.stderr, /^cpu-prof: 2 recordings in d .*\n$/)
  assert.ok(!fs.existsSync(path.join(result.cwd, 'profiles')))
  const separate = await cli([
    'run',
    '--no-merge',
    '--dir',
    'd',
    NODE,
    BIN,
    'run',
    '--no-merge',
    '--dir',
    'e',
    NODE,
    '-e',
    '0',
  ])
  assert.match(separate.stderr, /^cpu-prof: 1 recording in e .*\ncpu-prof: 1 recording in d .*\n$/)
})

test('help and version go to stdout; a missing command is wrong usage', async () => {
  const version = await cli(['--version'])
  assert.equal(version.stdout, `${require('../../package.json').version}\n`)
  for (const command of ['run', 'merge', 'report', 'convert']) {
    const { code, stdout, stderr } = await cli([command, '--help'])
    assert.equal(code, 0)
    assert.equal(stderr, '')
    assert.match(stdout, new RegExp(`Examples:\\n  cpu-prof ${command} `))
  }
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

test('two runs at once in one --dir have a trace each, with their own recordings', async () => {
  const cwd = temporaryDirectory()
  // Each waits for the recording of the other, and both end at once.
  const meet = `
    const fs = require('node:fs')
    const traces = () => fs.readdirSync('d').filter((name) => name.endsWith('.trace.json'))
    while (traces().length < 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)`
  fs.writeFileSync(path.join(cwd, 'meet.js'), meet)
  for (const format of ['trace', 'cpuprofile,trace']) {
    const both = await Promise.all(
      [1, 2].map((number) =>
        cli(['run', '-q', '--dir', 'd', `--format=${format}`, NODE, 'meet.js', `run${number}`], {
          cwd,
        }),
      ),
    )
    assert.deepEqual(
      both.map(({ code, stderr }) => [code, stderr]),
      [
        [0, ''],
        [0, ''],
      ],
    )
    const labels = ['trace.json', 'trace.2.json'].map((name) => {
      const text = fs.readFileSync(path.join(cwd, 'd', name), 'utf8')
      const { metadata } = JSON.parse(text)
      return metadata['cpu-prof'].processes.map((/** @type {any} */ { label }) => label)
    })
    assert.deepEqual(
      labels.map((each) => each.length),
      [1, 1],
    )
    const runs = labels.flat().map((label) => /run\d/.exec(label)?.[0])
    assert.deepEqual(runs.sort(), ['run1', 'run2'])
    fs.rmSync(path.join(cwd, 'd'), { recursive: true })
  }
})
