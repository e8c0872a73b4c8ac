'use strict'

// Where `cpu-prof run` puts recordings and its trace, and which recordings it finds.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory, tracesIn } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

const NODE = process.execPath

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

test('a new folder gets a .gitignore; later it keeps its files, which are not counted', async () => {
  const cwd = temporaryDirectory()
  // The user's own file says nothing about the new folder.
  fs.writeFileSync(path.join(cwd, '.gitignore'), 'node_modules\n')
  const args = ['run', '--no-merge', '--dir', 'd', NODE, '-e', '0']
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  assert.equal(fs.readFileSync(path.join(cwd, 'd', '.gitignore'), 'utf8'), '*\n')
  assert.match((await cli(args, { cwd })).stderr, /1 recording in d /)
  assert.equal(tracesIn(path.join(cwd, 'd')).length, 2)
  const withoutDir = ['run', '--no-merge', NODE, '-e', '0']
  const variable = await cli(withoutDir, { cwd, env: { CPU_PROF_DIR: 'd' } })
  assert.match(variable.stderr, /1 recording in d /)
})

test('a folder that the user made gets no .gitignore', async () => {
  const cwd = temporaryDirectory()
  fs.mkdirSync(path.join(cwd, 'old'))
  await cli(['run', '--no-merge', '--dir', 'old', NODE, '-e', '0'], { cwd })
  assert.equal(tracesIn(path.join(cwd, 'old')).length, 1)
  assert.ok(!fs.existsSync(path.join(cwd, 'old', '.gitignore')))
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
    const { stderr } = await cli(args('--no-merge'), { cwd })
    assert.match(stderr, pattern`: 1 recording in up ${messages.toMerge('up')}\n$`)
    const files = fs.readdirSync(path.join(cwd, place), { recursive: true }).map(String)
    const traces = files.filter((file) => file.endsWith('.trace.json'))
    assert.equal(traces.length, 2, files.join())
    assert.deepEqual(fs.readdirSync(cwd), ['up'], 'an empty folder was left')
    // Beside the recording that was kept.
    assert.match(
      (await cli(args(), { cwd })).stderr,
      /\ntrace: d\/trace\.json \(.*1 process, 1 thread/,
    )
    const output = path.join('up', name.includes('%P') ? '7/x' : 'x7')
    const taken = await cli(args('--output', `${output}.trace.json`), { cwd })
    assert.equal(taken.code, 2)
    assert.match(taken.stderr, pattern`${messages.isRecording}\n$`)
  })
}

test('a recordings folder removed by the command is made again, or else reported', async () => {
  const code = "require('node:fs').rmSync('d', { recursive: true }); process.exitCode = 6"
  const again = await cli(['run', '--dir', 'd', NODE, '-e', code])
  assert.equal(again.code, 6)
  assert.match(again.stderr, /\ntrace: d\/trace\.json \(/)

  const late = await cli(['run', '--dir', 'd', 'sh', '-c', '"$0" -e 0; rm -r d; exit 6', NODE])
  assert.equal(late.code, 6)
  assert.equal(
    late.stderr,
    `cpu-prof: the recordings' folder is gone: ${path.join(late.cwd, 'd')}\n`,
  )
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

test('two runs at once in one --dir have a trace each, with their own recordings', async () => {
  const cwd = temporaryDirectory()
  // Each waits for the recording of the other, and then until the other has seen both.
  const meet = `
    const fs = require('node:fs')
    const wait = (isTrue) => {
      for (let tries = 0; !isTrue(); tries++) {
        if (tries === 5000) throw new Error('the other run does not come')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      }
    }
    const count = (ending) => fs.readdirSync('d').filter((name) => name.endsWith(ending)).length
    wait(() => count('.trace.json') === 2)
    fs.writeFileSync('d/' + process.argv[2] + '.met', '')
    wait(() => count('.met') === 2)`
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
