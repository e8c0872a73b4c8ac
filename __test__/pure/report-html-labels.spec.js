'use strict'

// Labels in the HTML report: the table, the filter, and the colours of the graph by time.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { layoutFlame } = require('../../cli/page/layout/flame.js')
const { layoutTable } = require('../../cli/page/layout/table.js')
const { readState, tablesOf, threadsOf } = require('../../cli/page/state.js')
const { cli } = require('../helpers/cli.js')
const { findChromium, openReport, startChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

/** @param {string} route @param {string} tenant */
const of = (route, tenant) => ({ labels: { route, tenant } })
const HOSTILE = '</script><img src=x onerror="document.title=1">'

/** @type {Span[]} */
const SERVER = [
  ['serve app.js:1', 200, of('/a', 't1')],
  ['serve app.js:1', 100, of('/b', 't1')],
  ['serve app.js:1', 50],
  ['serve app.js:1 > wait app.js:9', 300, { ...of('/b', HOSTILE), cpuMs: 0 }],
  ['(idle)', 50],
]

/** Writes a trace. @param {Span[]} spans */
function write(spans) {
  return writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    spans,
    cwd: '/project',
    flushMs: 1000,
  })
}

/** @param {Span[]} spans */
async function readPage(spans) {
  return readRecording(JSON.parse(await pageData([write(spans)], {})))
}

/** Returns what is shown with a fragment of the address. @param {import('../../cli/page/data/recording.js').Recording} recording @param {string} fragment */
function shown(recording, fragment) {
  const state = readState(fragment, recording)
  const span = { fromUs: 0, toUs: recording.durationUs }
  const costs = costsOf(recording, threadsOf(state, recording), span, false, state.label)
  return { state, costs, isWanted: () => true, isDark: false, function: -1 }
}

/** @param {ReturnType<typeof layoutTable>} table */
const rowsOf = ({ rows }) => rows.map(({ name, place, times }) => [name, place, times.self / 1000])

test('the table of labels has the work that report() tells', async () => {
  const file = write(SERVER)
  const recording = await readPage(SERVER)
  const table = layoutTable(recording, shown(recording, 'table=labels'))
  assert.deepEqual(rowsOf(table), [
    ['t1', 'tenant', 300],
    ['/a', 'route', 200],
    ['/b', 'route', 100],
    ['(no route)', 'route', 50],
    ['(no tenant)', 'tenant', 50],
    [HOSTILE, 'tenant', 0],
  ])
  for (const key of ['route', 'tenant']) {
    const { labels } = await report(file, { by: `label:${key}` })
    for (const { name, selfMs, blockedMs, criticalMs } of labels) {
      const row = table.rows.find((row) => row.name === name && row.place === key)
      const { self, blocked, critical } = row?.times ?? { self: -1, blocked: -1, critical: -1 }
      const times = [self, blocked, critical].map((us) => Math.round(us / 1000))
      assert.deepEqual(times, [selfMs, blockedMs, criticalMs].map(Math.round), name)
    }
  }
})

test('a chosen label counts alone, and its row takes the choice back', async () => {
  const recording = await readPage(SERVER)
  const all = layoutTable(recording, shown(recording, 'table=labels'))
  const label = all.rows.find(({ name }) => name === '/b')?.choice?.label
  assert.ok(label !== undefined)
  const only = shown(recording, `label=${label}&table=functions`)
  assert.equal(only.costs.workUs, 100_000)
  assert.deepEqual(rowsOf(layoutTable(recording, only)), [
    ['serve', 'app.js:1', 100],
    ['wait', 'app.js:9', 0],
  ])
  const table = layoutTable(recording, shown(recording, `label=${label}&table=labels`))
  assert.deepEqual(rowsOf(table), rowsOf(all))
  const choices = table.rows.map(({ choice }) => choice)
  assert.ok(choices.some((choice) => choice && choice.label === undefined))
  // What is wrong in an address is left out.
  const wrong = readState('label=999&colours=nothing', recording)
  assert.deepEqual([wrong.label, wrong.colours], [undefined, undefined])
})

test('boxes of the graph by time end where the label does, if labels colour it', async () => {
  const recording = await readPage(SERVER)
  const boxes = (/** @type {string} */ fragment) =>
    layoutFlame(recording, shown(recording, fragment), 700).levels[0].map(({ from, to, label }) => {
      const name = label === undefined ? undefined : recording.labels?.items[label].name
      return [Math.round((to - from) / 1000), name]
    })
  assert.deepEqual(boxes('view=time'), [[650, undefined]])
  assert.deepEqual(boxes('view=time&colours=route'), [
    [200, '/a'],
    [100, '/b'],
    [50, '(no route)'],
    [300, '/b'],
  ])
  assert.deepEqual(boxes('view=time&colours=tenant'), [
    [300, 't1'],
    [50, '(no tenant)'],
    [300, HOSTILE],
  ])
})

test('a page without labels has nothing of them', async () => {
  const bare = /** @type {Span[]} */ (SERVER.map(([stack, ms]) => [stack, ms]))
  const data = await pageData([write(bare)], {})
  assert.doesNotMatch(data, /labelSets|"labels"/)
  const recording = readRecording(JSON.parse(data))
  assert.ok(!tablesOf(recording).some((name) => name === 'labels'))
})

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

test('labels are chosen and coloured in a browser', { skip, timeout: 180_000 }, async (t) => {
  const file = write(SERVER)
  const page = path.join(path.dirname(file), 'report.html')
  const written = await cli(['report', file, '--html', page])
  assert.equal(written.code, 0, written.stderr)
  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const { page: tab, shows, problems, requests, text } = await openReport(browser, page)
  await tab.locator('#tabs button', { hasText: /^labels$/ }).click()
  await shows('#table', /200 ms.*\/a route/)
  await tab.locator('#table button', { hasText: /^\/b$/ }).click()
  await shows('#summary', /busy 100 ms · only route \/b$/)
  // The table follows the summary. Until then, its row still makes the choice.
  await tab.locator('#table tr.selected', { hasText: '/b' }).waitFor()
  await tab.locator('#table button', { hasText: /^\/b$/ }).click()
  await shows('#summary', /busy 350 ms$/)
  assert.equal(await tab.locator('#colours').isVisible(), false)
  await tab.keyboard.press('1')
  await tab.locator('#colours').selectOption('tenant')
  await shows('#packages', /t1.*\(no tenant\)/)
  assert.ok((await text('#table')).includes(HOSTILE))
  assert.deepEqual(problems, [])
  assert.equal(requests.length, 1)
})
