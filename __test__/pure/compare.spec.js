'use strict'

// Comparisons of runs, with known times.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { compare, merge } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeProfile } = require('../helpers/written.js')

/** @typedef {Record<string, number>} Times milliseconds of functions: `name file:line`, or the name of a native one */

/** Times of a run of the program, before changes. @type {Times} */
const TIMES = {
  'parse src/parse.js:1': 400,
  'render src/render.js:5': 300,
  'chunk node_modules/lodash/chunk.js:3': 200,
  'callback src/render.js:20': 60,
  'callback src/render.js:30': 40,
}

/** Writes a run in which functions took these times, below `main`. @param {string} file @param {Times} times */
function writeRun(file, times) {
  const spans = Object.entries(times).map(([name, ms]) => {
    // The names of regular expressions have spaces.
    const frame = name.startsWith('RegExp: ') ? { name } : name
    return /** @type {import('../helpers/written.js').Span} */ ([
      ['main src/main.js:1', frame],
      Math.round(ms),
    ])
  })
  writeProfile(file, spans)
}

/**
 * Writes a folder of runs. Their times are a percent apart, each function's in another order, and the
 * mean is that of `times`. Returns its path.
 * @param {string} side `base` or `head` @param {number} runs @param {Times} times
 */
function writeRuns(side, runs, times) {
  const folder = path.join(temporaryDirectory(), side)
  for (let run = 1; run <= runs; run++) {
    const noisy = Object.entries(times).map(([name, ms], index) => {
      const rank = (3 * run + 2 * index + (side === 'head' ? 1 : 0)) % runs
      return [name, ms * (1 + (rank - (runs - 1) / 2) / 100)]
    })
    writeRun(path.join(folder, `run-${run}`, 'run.cpuprofile'), Object.fromEntries(noisy))
  }
  return folder
}

/** Returns the names of changed rows. @param {import('../../index.js').Comparison} comparison */
const changed = ({ rows }) =>
  rows
    .filter((row) => row.changed)
    .map(({ kind, measure, name }) => `${kind} ${measure} ${name ?? ''}`)

test('runs of one program have no change', async () => {
  const times = Object.entries(TIMES).map(([name, ms]) => [name, 1.005 * ms])
  const base = writeRuns('base', 7, TIMES)
  // Runs of one program are never quite the same.
  const head = writeRuns('head', 7, Object.fromEntries(times))
  const result = await compare(base, head)
  assert.deepEqual(changed(result), [])
  assert.deepEqual([result.version, result.noise], [1, 'measured'])
  assert.deepEqual(result.base, { runs: 7, inputs: 7 })
  const parse = result.rows.find(({ name, measure }) => name === 'parse' && measure === 'self')
  assert.ok(Number(parse?.low) < 0 && Number(parse?.high) > 0)
  assert.deepEqual([parse?.base, parse?.head, parse?.difference], [400, 402, 2])

  const { code, stdout } = await cli(['compare', base, head, '--fail-on', 'total>1%'])
  assert.equal(code, 0)
  assert.ok(stdout.includes(`\nno change in ${result.rows.length} values\n`), stdout)
})

test('a slower function is named, with its file, its package and the whole', async () => {
  const slower = { ...TIMES, 'chunk node_modules/lodash/chunk.js:3': 240 }
  const [base, head] = [writeRuns('base', 7, TIMES), writeRuns('head', 7, slower)]
  const result = await compare(base, head)
  // The function, what it is part of, and what calls it.
  assert.deepEqual(
    changed(result).sort(),
    [
      'function self chunk',
      'function total chunk',
      'function total main',
      ...['self', 'total'].map((measure) => `file ${measure} node_modules/lodash/chunk.js`),
      'file total /project/src/main.js',
      ...['package', 'owner'].flatMap((kind) => [
        `${kind} self lodash`,
        `${kind} total lodash`,
        `${kind} total (own code)`,
      ]),
      'process duration run.cpuprofile',
      'total wall ',
      'total work ',
    ].sort(),
  )
  const row = result.rows.find(({ name, measure }) => name === 'chunk' && measure === 'self')
  assert.deepEqual([row?.difference, row?.relative], [40, 0.2])
  assert.ok(Number(row?.low) > 20 && Number(row?.high) < 60)
  assert.equal(row?.file, 'node_modules/lodash/chunk.js')
})

test('a regular expression that was changed is one row, with the function that runs the expression', async () => {
  const base = writeRuns('base', 7, { ...TIMES, 'RegExp: ^a+$': 30 })
  const head = writeRuns('head', 7, { ...TIMES, 'RegExp: ^(a|a)+$': 90 })
  const { rows } = await compare(base, head)
  const found = rows.filter(({ name, measure }) => name?.startsWith('RegExp') && measure === 'self')
  const [{ name, was, caller, difference, changed }] = found
  assert.deepEqual([found.length, name, changed], [1, 'RegExp: ^(a|a)+$', true])
  assert.deepEqual(was, { name: 'RegExp: ^a+$', file: '' })
  assert.deepEqual(caller, { name: 'main', file: '/project/src/main.js', line: 1 })
  assert.equal(difference, 60)
  assert.ok(rows.every((row) => row.caller === undefined || row.package === '(native)'))

  const { stdout } = await cli(['compare', base, head, '--markdown'])
  const row =
    '`RegExp: ^(a\\|a)+$` in `main /project/src/main.js:1` (was `RegExp: ^a+$`) | 30 ms | 90 ms |'
  assert.ok(stdout.includes(row), stdout)
})

test('rules are broken by what exceeds them beyond the noise', async () => {
  const slower = { ...TIMES, 'render src/render.js:5': 360 }
  const [base, head] = [writeRuns('base', 7, TIMES), writeRuns('head', 7, slower)]
  const rules = [
    'function:render>20ms',
    'function:render>59ms',
    'file:/project/src/render.js>5%',
    'package:absent>1%',
  ]
  const { rules: found } = await compare(base, head, { failOn: rules })
  assert.deepEqual(
    found.map(({ rule, broken, row }) => [rule, broken, row?.name]),
    [
      [rules[0], true, 'render'],
      [rules[1], false, 'render'],
      [rules[2], true, '/project/src/render.js'],
      [rules[3], false, undefined],
    ],
  )
  const minutes = await compare(base, head, { failOn: ['total>0.0005m', 'total>0.002m'] })
  assert.deepEqual(
    minutes.rules.map(({ broken }) => broken),
    [true, false],
  )

  const failing = await cli([
    'compare',
    base,
    head,
    '--markdown',
    ...rules.flatMap((rule) => ['--fail-on', rule]),
  ])
  assert.equal(failing.code, 3)
  assert.match(failing.stderr, /no run has what the rule names: package:absent>1%\n/)
  assert.match(
    failing.stderr,
    pattern`${messages.slower}: function:render>20ms, file:/project/src/render\.js>5%\n`,
  )
  const title =
    '<!-- cpu-prof compare -->\n\n**CPU profile: slower by 60 ms of work (+6.0%): `render` +60 ms**\n'
  assert.ok(failing.stdout.startsWith(title), failing.stdout)
  const row = '\n| `render` `/project/src/render.js:5` | 300 ms | 360 ms | **+60 ms** | +20.0% |'
  assert.ok(failing.stdout.includes(row), failing.stdout)
  const json = await cli(['compare', base, head, '--json'])
  assert.equal(JSON.parse(json.stdout).version, 1)
})

test('functions match although lines and files have changed', async () => {
  const base = writeRuns('base', 5, TIMES)
  const moved = writeRuns('head', 5, {
    'parse src/parse.js:41': 400,
    'render src/render.js:45': 300,
    'chunk node_modules/.pnpm/lodash@5/node_modules/lodash/chunk.js:3': 200,
    'callback src/render.js:60': 60,
    'callback src/render.js:70': 40,
  })
  const result = await compare(base, moved)
  assert.deepEqual(changed(result), [])
  const callback = result.rows.find(({ name }) => name === 'callback')
  assert.equal(callback?.functions, 2)
  const chunk = result.rows.find(({ name, kind }) => name === 'chunk' && kind === 'function')
  assert.deepEqual(chunk?.was, undefined)

  const other = writeRuns('head', 5, {
    ...TIMES,
    'parse src/parse.js:1': 0,
    'parse lib/parse.js:1': 400,
  })
  const parse = (await compare(base, other)).rows.find(({ name }) => name === 'parse')
  assert.deepEqual([parse?.file, parse?.changed], ['/project/lib/parse.js', false])
  assert.match(String(parse?.was?.file), /src\/parse\.js$/)
})

test('a single run on each side shows a doubled function, and no small difference', async () => {
  const doubled = { ...TIMES, 'render src/render.js:5': 600, 'parse src/parse.js:1': 440 }
  const [base, head] = [writeRuns('base', 1, TIMES), writeRuns('head', 1, doubled)]
  const run = path.join(base, 'run-1')
  const result = await compare(run, path.join(head, 'run-1', 'run.cpuprofile'))
  assert.equal(result.noise, 'assumed')
  assert.deepEqual(changed(result), [
    ...['self', 'total'].map((measure) => `file ${measure} /project/src/render.js`),
    ...['self', 'total'].map((measure) => `function ${measure} render`),
  ])
  const array = await compare([run], [run])
  assert.deepEqual(changed(array), [])
})

test('wrong arguments are named', async () => {
  const base = writeRuns('base', 1, TIMES)
  const limits = ['total>5', 'total>5MB', 'memory>5ms', 'total>-5%']
  // Words that every object knows are no measures and no units.
  const inherited = ['constructor>5%', 'toString:a>5%', '__proto__>5%', 'total>5valueOf']
  const wrong = ['total', 'speed>5%', 'function>5%', ...limits, ...inherited]
  await Promise.all(
    wrong.map(async (failOn) => {
      const message = /^TypeError: cpu-prof: the rule '/
      await assert.rejects(compare(base, base, { failOn }), message)
      const { code, stderr } = await cli(['compare', base, base, '--fail-on', failOn])
      assert.equal(code, 2)
      assert.match(stderr, /^cpu-prof: the rule '.* rules are such as total>5%, /)
    }),
  )
  await assert.rejects(compare([], base), /^TypeError: cpu-prof: base must be a path/)
  await assert.rejects(
    compare(base, /** @type {any} */ (7)),
    /^TypeError: cpu-prof: head must be a path/,
  )
  await assert.rejects(compare(base, '/absent'), /^Error: cpu-prof: .*\/absent/)
  const one = await cli(['compare', base])
  assert.equal(one.code, 2)
  assert.match(one.stderr, /compare needs a base and a head, not 1 inputs/)
})

test('a note says which side has the leaves of V8', async () => {
  const dir = temporaryDirectory()
  const sides = { old: {}, found: { findsLeaves: true } }
  const at = (/** @type {string} */ name) => path.join(dir, name, 'a.trace.json')
  for (const [name, facts] of Object.entries(sides)) {
    fs.mkdirSync(path.join(dir, name))
    fs.writeFileSync(at(name), recording({ ...facts }))
    await merge(at(name), path.join(dir, name, 'merged.json'))
  }
  const noteOf = async (/** @type {string} */ base, /** @type {string} */ head) => {
    const { notes } = await compare(base, head)
    return notes.find((note) => note.includes('leaves'))?.replace(/:.*/, '')
  }
  assert.equal(await noteOf(at('old'), at('found')), "the base has V8's leaves")
  assert.equal(await noteOf(at('found'), at('old')), "the head has V8's leaves")
  assert.equal(await noteOf(at('old'), at('old')), undefined)
  const merged = path.join(dir, 'found', 'merged.json')
  assert.equal(await noteOf(merged, at('found')), undefined)
  assert.equal(await noteOf(at('old'), merged), "the base has V8's leaves")
})
