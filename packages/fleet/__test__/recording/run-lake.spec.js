'use strict'

// `cpu-prof run --lake`: real runs land in a lake, and a lake never costs a run its recording or exit code.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { openLake } = require('../../lake/duckdb.js')
const { BIN, cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

const PROGRAM = `
const end = process.cpuUsage().user + 60_000
while (process.cpuUsage().user < end) for (let i = 0; i < 1e4; i++) Math.sqrt(i)
process.exitCode = Number(process.env.CODE ?? 0)
`

/** Makes a repository with a program. */
function project() {
  const cwd = fs.realpathSync(temporaryDirectory())
  fs.writeFileSync(path.join(cwd, 'program.js'), PROGRAM)
  const who = ['-c', 'user.name=n', '-c', 'user.email=e@x']
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['remote', 'add', 'origin', 'git@host:org/app.git'],
    ['add', 'program.js'],
    [...who, 'commit', '-q', '-m', 'one'],
  ]) {
    assert.equal(spawnSync('git', args, { cwd }).status, 0, args.join(' '))
  }
  return cwd
}

/** Returns the runs of a lake. @param {string} lake */
async function runsIn(lake) {
  const opened = await openLake(lake)
  try {
    return await opened.query(
      `SELECT repo, branch, commit_seq AS seq, count(*)::INT AS own FROM functions
       WHERE file = 'program.js' AND "function" = '(anonymous)' GROUP BY run_id, repo, branch, commit_seq`,
    )
  } finally {
    opened.close()
  }
}

const RUN = { repo: 'org/app', branch: 'main', seq: 1, own: 1 }

test('a run is added after its report, by the option and by the variable', async () => {
  const cwd = project()
  const first = await cli(['run', '--lake', 'lake', '--', 'node', 'program.js'], { cwd })
  assert.deepEqual([first.code, first.stdout], [0, ''])
  assert.match(
    first.stderr,
    /\ntrace: .*\n(.*\n)*cpu-prof: added to the lake lake: run [0-9a-f]{16} \(org\/app /,
  )
  const env = { CPU_PROF_LAKE: path.join(cwd, 'lake'), CODE: '7' }
  const second = await cli(['run', '-q', '--', 'node', 'program.js'], { cwd, env })
  assert.deepEqual([second.code, second.stdout, second.stderr], [7, '', ''])
  assert.deepEqual(await runsIn(path.join(cwd, 'lake')), [RUN, RUN])

  // The trace of a run is the same run.
  const again = await cli(['lake', 'add', 'profiles', '--to', 'lake'], { cwd })
  assert.equal(again.code, 0, again.stderr)
  assert.equal(again.stdout.match(/^already in the lake lake: /gm)?.length, 2, again.stdout)
  assert.equal((await runsIn(path.join(cwd, 'lake'))).length, 2)
})

test('without a trace, the run is added too', async () => {
  const cwd = project()
  const args = ['run', '--no-merge', '--lake', 'lake', '--', 'node', 'program.js']
  const { code, stderr } = await cli(args, { cwd })
  assert.equal(code, 0)
  assert.match(stderr, /cpu-prof: added to the lake lake: /)
  assert.deepEqual(await runsIn(path.join(cwd, 'lake')), [RUN])
})

test('each run of --repeat is added, and no warm-up', async () => {
  const cwd = project()
  const args = ['run', '--repeat', '2', '--warmup', '1', '--dir', 'base', '--lake', 'lake']
  const { code, stderr } = await cli([...args, '--', 'node', 'program.js'], { cwd })
  assert.equal(code, 0)
  assert.equal(stderr.match(/^cpu-prof: added to the lake lake: /gm)?.length, 2, stderr)
  assert.deepEqual(await runsIn(path.join(cwd, 'lake')), [RUN, RUN])
})

test('compare --runs adds nothing', async () => {
  const cwd = project()
  const env = { CPU_PROF_LAKE: path.join(cwd, 'lake') }
  const words = ['node program.js', 'node program.js']
  const { code, stderr } = await cli(['compare', '--runs', '1', '--', ...words], { cwd, env })
  assert.equal(code, 0, stderr)
  assert.ok(!fs.existsSync(path.join(cwd, 'lake')))
})

test('a lake that fails changes neither the exit code nor the recording', async () => {
  const cwd = project()
  fs.writeFileSync(path.join(cwd, 'file'), '')
  fs.mkdirSync(path.join(cwd, 'other', 'v2'), { recursive: true })
  for (const lake of ['file', 'file/lake', 'other']) {
    for (const more of [[], ['-q']]) {
      const args = [
        'run',
        ...more,
        '--dir',
        `of-${lake}${more}`,
        '--lake',
        lake,
        '--',
        'node',
        'program.js',
      ]
      const { code, stderr } = await cli(args, { cwd, env: { CODE: '3' } })
      assert.equal(code, 3)
      const line = new RegExp(
        pattern`^cpu-prof: ${messages.notAdded} \S+: .+; to add it later: cpu-prof lake add \S+ --to \S+$`,
        'm',
      )
      assert.match(stderr, line)
      assert.deepEqual(
        fs.readdirSync(path.join(cwd, `of-${lake}${more}`)).filter((name) => name !== '.gitignore'),
        ['trace.json'],
      )
    }
  }
  const later = await cli(['lake', 'add', 'of-other', '--to', 'lake'], { cwd })
  assert.match(later.stdout, /^added to the lake lake: /)
})

test('a lake without a usable name stops the run before the command', async () => {
  const cwd = project()
  for (const [args, env] of [
    [['--lake', ''], {}],
    [['--lake', 'https://u:s3cret@host/lake'], {}],
    [[], { CPU_PROF_LAKE: 'gs://bucket' }],
  ]) {
    const command = ['run', .../** @type {string[]} */ (args), '--', 'node', 'program.js']
    const { code, stderr } = await cli(command, { cwd, env: /** @type {any} */ (env) })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^cpu-prof: .*name a folder, or s3:\/\/<bucket>\/<folder>\n$/)
    assert.doesNotMatch(stderr, /s3cret/)
  }
  assert.ok(!fs.existsSync(path.join(cwd, 'profiles')))
})

test('a run within a run is added once, with the outer one', async () => {
  const cwd = project()
  const inner = ['node', BIN, 'run', '--', 'node', 'program.js']
  const env = { CPU_PROF_LAKE: path.join(cwd, 'lake') }
  const outer = await cli(['run', '--', ...inner], { cwd, env })
  assert.equal(outer.code, 0)
  assert.equal(outer.stderr.match(/added to the lake/g)?.length, 1, outer.stderr)
  assert.deepEqual(await runsIn(path.join(cwd, 'lake')), [RUN])

  const named = ['node', BIN, 'run', '--lake', 'other', '--', 'node', 'program.js']
  const told = await cli(['run', '--', ...named], { cwd })
  assert.equal(told.code, 0)
  assert.match(
    told.stderr,
    new RegExp(
      pattern`^cpu-prof: ${messages.notAdded}: the run is part of an outer cpu-prof run`,
      'm',
    ),
  )
  assert.ok(!fs.existsSync(path.join(cwd, 'other')))
})

test('a run within a run that records by itself is a run of its own', async () => {
  const cwd = project()
  const inner = ['node', BIN, 'run', '--dir', 'inner', '--', 'node', 'program.js']
  const env = { CPU_PROF_LAKE: path.join(cwd, 'lake') }
  const { code, stderr } = await cli(['run', '--dir', 'outer', '--', ...inner], { cwd, env })
  assert.equal(code, 0)
  assert.equal(stderr.match(/added to the lake/g)?.length, 2, stderr)
  assert.deepEqual(await runsIn(path.join(cwd, 'lake')), [RUN])
})

test('nothing is left in the folder for temporary files', async () => {
  const cwd = project()
  const env = { TMPDIR: temporaryDirectory(), CPU_PROF_LAKE: path.join(cwd, 'lake'), CODE: '5' }
  const ending = await cli(['run', '--', 'node', 'program.js'], { cwd, env })
  assert.equal(ending.code, 5)
  assert.match(ending.stderr, /added to the lake lake: /)
  assert.deepEqual(fs.readdirSync(env.TMPDIR), [])
})
