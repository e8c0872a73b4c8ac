'use strict'

// Comparisons of runs, with known times.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { compare } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

/** @typedef {Record<string, number>} Times milliseconds of functions: `name file:line`, `name -` for native ones */

/** Times of a run of the program, before changes. @type {Times} */
const TIMES = {
  'parse src/parse.js:1': 400,
  'render src/render.js:5': 300,
  'chunk node_modules/lodash/chunk.js:3': 200,
  'callback src/render.js:20': 60,
  'callback src/render.js:30': 40,
}

/**
 * Writes a run in which functions took these times, below `main`.
 * @param {string} file @param {Times} times
 */
function writeRun(file, times) {
  const frame = (/** @type {string} */ functionName, url = '', line = 0) => ({
    callFrame: { functionName, scriptId: '1', url, lineNumber: line - 1, columnNumber: 0 },
    children: /** @type {number[]} */ ([]),
  })
  const nodes = [frame('(root)'), frame('main', 'file:///project/src/main.js', 1)]
  nodes[0].children = [2]
  /** @type {number[]} */
  const samples = []
  for (const [name, ms] of Object.entries(times)) {
    const [, functionName, at, line] = /^(.+) (.+?)(?::(\d+))?$/.exec(name) ?? []
    nodes.push(frame(functionName, at === '-' ? '' : `file:///project/${at}`, Number(line ?? 0)))
    nodes[1].children.push(nodes.length)
    samples.push(...Array(Math.round(ms)).fill(nodes.length))
  }
  const profile = {
    nodes: nodes.map((node, index) => ({ id: index + 1, ...node })),
    startTime: 1000,
    endTime: 1000 + 1000 * (samples.length + 1),
    samples,
    timeDeltas: samples.map(() => 1000),
  }
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, JSON.stringify(profile))
}

/** Returns factors around 1, the same each time. @param {number} run */
const noise = (run) => 1 + 0.02 * Math.sin(7 * run + 1)

/**
 * Writes a folder of runs. Returns its path.
 * @param {string} side `base` or `head` @param {number} runs @param {Times} times
 */
function writeRuns(side, runs, times) {
  const folder = path.join(temporaryDirectory(), side)
  for (let run = 1; run <= runs; run++) {
    const noisy = Object.entries(times).map(([name, ms], index) => {
      return [name, ms * noise(run * 5 + index + (side === 'head' ? 100 : 0))]
    })
    const file = path.join(folder, `run-${run}`, 'run.cpuprofile')
    writeRun(file, Object.fromEntries(noisy))
  }
  return folder
}

/** Returns the names of changed rows. @param {import('../../index.js').Comparison} comparison */
const changed = ({ rows }) =>
  rows
    .filter((row) => row.changed)
    .map(({ kind, measure, name }) => `${kind} ${measure} ${name ?? ''}`)

test('runs of one program have no change', async () => {
  const [base, head] = [writeRuns('base', 7, TIMES), writeRuns('head', 7, TIMES)]
  const result = await compare(base, head)
  assert.deepEqual(changed(result), [])
  assert.deepEqual([result.version, result.noise], [1, 'measured'])
  assert.deepEqual(result.base, { runs: 7, inputs: 7 })
  const parse = result.rows.find(({ name, measure }) => name === 'parse' && measure === 'self')
  assert.ok(Number(parse?.low) < 0 && Number(parse?.high) > 0)
  assert.ok(Math.abs(Number(parse?.base) - 400) < 8)

  const { code, stdout } = await cli(['compare', base, head, '--fail-on', 'total>1%'])
  assert.equal(code, 0)
  assert.match(stdout, /\nno change in \d+ values\n/)
})

test('a slower function is named, with its file, its package and the whole', async () => {
  const slower = { ...TIMES, 'chunk node_modules/lodash/chunk.js:3': 240 }
  const [base, head] = [writeRuns('base', 7, TIMES), writeRuns('head', 7, slower)]
  const result = await compare(base, head)
  const names = changed(result)
  for (const name of ['function self chunk', 'package self lodash', 'owner self lodash']) {
    assert.ok(names.includes(name), names.join())
  }
  assert.ok(!names.some((name) => /parse|render|callback/.test(name)), names.join())
  const row = result.rows.find(({ name, measure }) => name === 'chunk' && measure === 'self')
  assert.ok(Math.abs(Number(row?.difference) - 40) < 6)
  assert.ok(Math.abs(Number(row?.relative) - 0.2) < 0.04)
  assert.ok(Number(row?.low) > 20 && Number(row?.high) < 60)
  assert.equal(row?.file, 'node_modules/lodash/chunk.js')
})

test('a regular expression that was changed is one row, with the function that runs the expression', async () => {
  const base = writeRuns('base', 7, { ...TIMES, 'RegExp: ^a+$ -': 30 })
  const head = writeRuns('head', 7, { ...TIMES, 'RegExp: ^(a|a)+$ -': 90 })
  const { rows } = await compare(base, head)
  const found = rows.filter(({ name, measure }) => name?.startsWith('RegExp') && measure === 'self')
  const [{ name, was, caller, difference, changed }] = found
  assert.deepEqual([found.length, name, changed], [1, 'RegExp: ^(a|a)+$', true])
  assert.deepEqual(was, { name: 'RegExp: ^a+$', file: '' })
  assert.deepEqual(caller, { name: 'main', file: '/project/src/main.js', line: 1 })
  assert.ok(Math.abs(difference - 60) < 6)
  assert.ok(rows.every((row) => row.caller === undefined || row.package === '(native)'))

  const { stdout } = await cli(['compare', base, head, '--markdown'])
  const row =
    '`RegExp: ^(a\\|a)+$` in `main /project/src/main.js:1` (was `RegExp: ^a+$`) | 30 ms | 90 ms |'
  assert.ok(
    stdout
      .replace(/\d+ ms/g, (ms) => `${Math.round(Number.parseInt(ms, 10) / 10)}0 ms`)
      .includes(row),
    stdout,
  )
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
    /slower than allowed: function:render>20ms, file:\/project\/src\/render\.js>5%\n/,
  )
  assert.match(
    failing.stdout,
    /^<!-- cpu-prof compare -->\n\n\*\*CPU profile: slower by .* `render` \+\d+ ms/,
  )
  assert.match(
    failing.stdout,
    /\| `render` `\/project\/src\/render\.js:5` \| 30\d ms \| 3\d\d ms \| \*\*\+\d+ ms\*\* \|/,
  )
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
  assert.ok(changed(result).includes('function self render'))
  assert.ok(!changed(result).includes('function self parse'))
  const array = await compare([run], [run])
  assert.deepEqual(changed(array), [])
})

test('wrong arguments are named', async () => {
  const base = writeRuns('base', 1, TIMES)
  for (const rule of [
    'total',
    'speed>5%',
    'function>5%',
    'total>5',
    'total>5MB',
    'memory>5ms',
    'total>-5%',
  ]) {
    await assert.rejects(compare(base, base, { failOn: rule }), /^TypeError: cpu-prof: the rule '/)
    const { code, stderr } = await cli(['compare', base, base, '--fail-on', rule])
    assert.equal(code, 2)
    assert.match(stderr, /^cpu-prof: the rule '.* rules are such as total>5%, /)
  }
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

test('the test of docs/compare.md fails when the share of a function grows', async () => {
  const cwd = temporaryDirectory()
  const docs = fs.readFileSync(path.join(PACKAGE, 'docs', 'compare.md'), 'utf8')
  const recipe = /```js\n([\s\S]*?)\n```/.exec(docs)?.[1] ?? ''
  fs.mkdirSync(path.join(cwd, 'node_modules', '@org'), { recursive: true })
  fs.symlinkSync(PACKAGE, path.join(cwd, 'node_modules', '@org', 'cpu-prof'))
  fs.writeFileSync(path.join(cwd, 'share.test.js'), recipe)
  fs.writeFileSync(
    path.join(cwd, 'render.js'),
    `function work(ms) {
      const enough = process.cpuUsage().user + ms * 1000
      for (let sum = 0; process.cpuUsage().user < enough; ) for (let i = 0; i < 1e5; i++) sum = (sum + i) & 1023
    }
    function renderTable() { work(Number(process.env.MS)) }
    function renderRest() { work(60) }
    exports.renderAll = () => { renderTable(); renderRest() }`,
  )
  const record = `
    const { profile } = require('@org/cpu-prof')
    const { renderAll } = require('./render.js')
    ;(async () => {
      for (let i = 0; i < 7; i++) await profile(renderAll, { dir: 'profiles/base' })
    })()`
  const recorded = await run(['-e', record], {
    cwd,
    env: { MS: '30', NODE_TEST_CONTEXT: undefined },
    preload: null,
  })
  assert.equal(recorded.code, 0, recorded.stderr)
  const same = await run(['--test', 'share.test.js'], {
    cwd,
    env: { MS: '30', NODE_TEST_CONTEXT: undefined },
    preload: null,
  })
  assert.equal(same.code, 0, same.stdout)
  const grown = await run(['--test', 'share.test.js'], {
    cwd,
    env: { MS: '300', NODE_TEST_CONTEXT: undefined },
    preload: null,
  })
  assert.equal(grown.code, 1, grown.stdout)
  assert.match(grown.stdout, /renderTable/)
})
