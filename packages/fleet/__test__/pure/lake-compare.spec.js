'use strict'

// `cpu-prof lake compare`, with a planted step.

const assert = require('node:assert/strict')
const test = require('node:test')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

/** @param {string} lake @param {string} base @param {string} head @param {string[]} args */
const run = (lake, base, head, ...args) =>
  cli(['lake', 'compare', lake, '--base', base, '--head', head, ...args])

/** @param {Parameters<typeof run>} args */
async function json(...args) {
  const { code, stdout, stderr } = await run(...args, '--json')
  assert.equal(code, 0, stderr)
  /** @type {import('../../../../index.js').Comparison} */
  const comparison = JSON.parse(stdout)
  return comparison
}

/** Returns the names of changes. @param {import('../../../../index.js').Comparison} comparison */
const changed = ({ rows }) =>
  rows.filter((row) => row.changed).map(({ kind, measure, name }) => `${kind} ${measure} ${name}`)

test('a step is found among slow machines, as shares of the work', async () => {
  const lake = await writeLake(madeRuns({ commits: 10, runs: 10, slowRuns: 3 }), {
    compacted: true,
  })
  const comparison = await json(lake, 'date=2026-11-01..2026-11-02', 'date=2026-11-04..')
  assert.deepEqual([comparison.base.runs, comparison.head.runs], [40, 40])
  assert.equal(comparison.noise, 'measured')
  const row = comparison.rows.find(({ name }) => name === 'renderTable')
  assert.ok(row?.changed && row.unit === 'share')
  assert.ok(Math.abs(row.base - 0.2) < 0.01 && Math.abs(row.head - 0.252) < 0.01)
  assert.ok(changed(comparison).includes('label self route=/users'))
  assert.ok(!changed(comparison).some((text) => text.startsWith('total')))
})

test('the same runs have no change, and fifty are compared with seven', async () => {
  const lake = await writeLake(madeRuns({ commits: 8, runs: 10, step: 8 }), { compacted: true })
  const same = await json(lake, 'date=2026-11-01..2026-11-02', 'date=2026-11-03')
  assert.deepEqual(changed(same), [])
  const { base, head, rows } = await json(lake, 'last=50', 'last=7')
  assert.deepEqual([base.runs, head.runs], [50, 7])
  const row = rows.find(({ name, measure }) => name === 'renderTable' && measure === 'self')
  assert.ok(row?.changed)
})

test('runs of both selectors count as head', async () => {
  const lake = await writeLake(madeRuns({ commits: 4, runs: 5 }))
  const found = await json(lake, 'branch=main', 'branch=main,last=5')
  assert.deepEqual([found.base.runs, found.head.runs], [15, 5])
  assert.deepEqual(found.notes, ['5 of the runs are chosen by both selectors, and count as head'])
  const none = await run(lake, 'branch=main', 'branch=main')
  assert.deepEqual([none.code, none.stdout], [1, ''])
  assert.match(none.stderr, /base has no runs beside those of the head/)
})

test('selectors that are none are wrong usage', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  for (const text of [
    'main',
    'branch',
    'branch=',
    'last=0',
    'last=x',
    'tag=1',
    'date=1..2..3',
    '',
  ]) {
    const { code, stderr } = await run(lake, text, 'last=1')
    assert.deepEqual([code, stderr.includes(`selector '${text}'`)], [2, true], text)
  }
  const { code } = await run(lake, 'date=2026-13-01', 'last=1')
  assert.equal(code, 2)
  const none = await run(lake, 'branch=none', 'last=1')
  assert.match(none.stderr, /the base has no runs/)
})

test('rules are kept and broken, and one that no lake can decide is refused', async () => {
  const lake = await writeLake(madeRuns({ commits: 10, runs: 5 }), { compacted: true })
  const [base, head] = ['date=2026-11-01..2026-11-02', 'date=2026-11-04..2026-11-05']
  const rule = (/** @type {string[]} */ ...args) =>
    run(lake, base, head, ...args.flatMap((text) => ['--fail-on', text]))
  const broken = await rule('function:renderTable>5%')
  assert.equal(broken.code, 3)
  assert.match(broken.stderr, pattern`${messages.slower}: function:renderTable>5%`)
  assert.equal((await rule('function:renderTable>90%', 'rule:no-cycle>1%')).code, 0)
  const unknown = await rule('function:nothing>5%')
  assert.deepEqual([unknown.code, /no run has/.test(unknown.stderr)], [0, true])
  for (const text of ['gc>5%', 'file:src/table.js>5%', 'process:x>1s', 'function:parse>20ms']) {
    assert.equal((await rule(text)).code, 2, text)
  }
  const absolute = await run(
    lake,
    base,
    head,
    '--absolute',
    '--fail-on',
    'function:renderTable>1ms',
  )
  assert.equal(absolute.code, 3)
})

test('Markdown has a mark of its own, and names stay in their cells', async () => {
  const runs = madeRuns({ commits: 10, runs: 5 })
  for (const { functions } of runs) functions[1].function = 'a|b`<img>'
  const lake = await writeLake(runs, { compacted: true })
  const { stdout } = await run(lake, 'date=2026-11-01..2026-11-02', 'last=20', '--markdown')
  assert.ok(stdout.startsWith('<!-- cpu-prof lake compare -->\n'))
  assert.ok(stdout.includes('``a\\|b`<img>``'), stdout)
})
