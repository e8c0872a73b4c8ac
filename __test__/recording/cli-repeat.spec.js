'use strict'

// Several runs of a command: `run --repeat`, and `compare --runs`.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { compare, check } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

/** Works for about as many milliseconds of CPU time as its argument says, and notes each start. */
const PROGRAM = `
const fs = require('node:fs')
function work(ms) {
  const enough = process.cpuUsage().user + ms * 1000
  for (let sum = 0; process.cpuUsage().user < enough; ) for (let i = 0; i < 1e5; i++) sum = (sum + i) & 1023
}
fs.appendFileSync('starts.txt', (process.argv[3] ?? 'start') + '\\n')
work(Number(process.argv[2]))
process.exitCode = Number(process.env.CODE ?? 0)
`

/** Creates a folder with the program. */
function project() {
  const cwd = fs.realpathSync(temporaryDirectory())
  fs.writeFileSync(path.join(cwd, 'program.js'), PROGRAM)
  return cwd
}

/** Returns the starts of the program, in their order. @param {string} cwd */
const starts = (cwd) => fs.readFileSync(path.join(cwd, 'starts.txt'), 'utf8').trim().split('\n')

test('each run has a folder of its own, and warm-ups do not count', async () => {
  const cwd = project()
  const command = ['run', '--repeat', '3', '--warmup', '1', '--dir', 'base', '--', 'node']
  const { code, stdout, stderr } = await cli([...command, 'program.js', '0'], { cwd })
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /^cpu-prof: warm-up: .*\ncpu-prof: run 1 of 3: .*\n/)
  assert.match(stderr, /\ncpu-prof: 3 runs in base \(to compare: cpu-prof compare base .*\)\n$/)
  assert.equal(starts(cwd).length, 4)
  assert.deepEqual(fs.readdirSync(path.join(cwd, 'base')).sort(), [
    '.gitignore',
    'run-1',
    'run-2',
    'run-3',
  ])
  for (const run of ['run-1', 'run-2', 'run-3']) {
    assert.deepEqual(fs.readdirSync(path.join(cwd, 'base', run)), ['trace.json'])
  }
  const { files } = await check(path.join(cwd, 'base'))
  assert.deepEqual(
    files.flatMap(({ problems }) => problems),
    [],
  )

  const again = await cli([...command, 'program.js', '0'], { cwd })
  assert.equal(again.code, 2)
  assert.match(again.stderr, /base has runs already, .* choose another --dir\n$/)
  assert.equal(starts(cwd).length, 4)

  const last = await cli(['report', 'base'], { cwd })
  assert.match(last.stderr, /^cpu-prof: the last of 3 runs: base\/run-3 /)
})

test('runs in two checkouts of a project are compared by their relative paths', async () => {
  const [one, other] = [project(), project()]
  const command = ['run', '-q', '--dir', 'runs', '--', 'node', 'program.js', '500']
  for (const cwd of [one, other]) assert.equal((await cli(command, { cwd })).stderr, '')
  const { rows } = await compare(path.join(one, 'runs'), path.join(other, 'runs'))
  const work = rows.filter(({ name, measure }) => name === 'work' && measure === 'total')
  assert.deepEqual(new Set(work.map(({ file }) => file)), new Set(['program.js']))
  for (const { base, head } of work) assert.ok(base > 0 && head > 0, `${base} and ${head} ms`)
  const process = rows.find(({ kind }) => kind === 'process')
  assert.equal(process?.name, 'program.js 500')
})

test('a failing command runs as often, and its exit code is the result', async () => {
  const cwd = project()
  const env = { CODE: '5' }
  const command = ['run', '-q', '--repeat', '2', '--dir', 'base', '--', 'node', 'program.js', '0']
  const { code } = await cli(command, { cwd, env })
  assert.equal(code, 5)
  assert.equal(starts(cwd).length, 2)

  const none = await cli(['run', '--repeat', '3', '--dir', 'none', '--', 'true'], { cwd })
  assert.equal(none.code, 1)
  assert.match(none.stderr, /the command left no recording; see what cpu-prof run true says\n$/)
  for (const option of ['--output', '--html']) {
    const both = await cli(['run', '--repeat', '2', option, 'x.json', '--', 'true'], { cwd })
    assert.equal(both.code, 2)
  }
})

test('two commands run in turn, and are compared', async () => {
  const cwd = project()
  const commands = ['--', 'node program.js 0 A', '--', 'node program.js 500 B']
  // Of all measures, CPU time has the least noise on a machine that stands still.
  const options = ['--runs', '4', '--dir', 'both', '--fail-on', 'cpu>100ms']
  const { code, stdout, stderr } = await cli(['compare', ...options, ...commands], { cwd })
  assert.equal(code, 3, stderr)
  assert.equal(starts(cwd).join(''), 'ABBAABBA')
  assert.match(stdout, /^base {2}4 runs {2}both\/base\nhead {2}4 runs {2}both\/head\n/)
  assert.match(stdout, /\nslower by [\d.]+ m?s of work /)
  assert.match(stdout, / program\.js 500 B +was program\.js 0 A\n/)
  assert.match(stderr, pattern`${messages.slower}: cpu>100ms\n$`)

  const one = await cli(['compare', '--runs', '2', '--', 'true'], { cwd })
  assert.equal(one.code, 2)
  assert.match(one.stderr, /--runs needs two commands, not 1/)
})
