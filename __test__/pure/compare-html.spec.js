'use strict'

// The page of a comparison: both sides on one call tree, with the difference of each box.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { comparePageData } = require('../../lib/offline.js')
const { layoutFlame } = require('../../cli/page/layout/flame.js')
const { costsOf } = require('../../cli/page/data/costs.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { callsOfSides, sidesOf, timesOf } = require('../../cli/page/data/sides.js')
const { readState } = require('../../cli/page/state.js')
const { cli } = require('../helpers/cli.js')
const { findChromium, startChromium, until, whyNoBrowser } = require('../helpers/chromium.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** Stacks of `function:line` with their milliseconds, in the runs of each side. @type {[string, number][]} */
const BASE = [
  ['main:1 parse:10 match:20', 100],
  ['main:1 render:30', 200],
  ['main:1 old:40', 30],
]
/** The lines have moved. @type {[string, number][]} */
const HEAD = [
  ['main:1 parse:15 match:25', 180],
  ['main:1 render:35', 190],
  ['main:1 fresh:45', 40],
]

/** Writes a folder of runs in which stacks took these times. @param {string} side @param {[string, number][]} stacks */
function writeRuns(side, stacks) {
  const folder = path.join(temporaryDirectory(), side)
  for (const run of [1, 2]) {
    const nodes = [node('(root):0')]
    const samples = stacks.flatMap(([stack, ms]) => {
      let at = nodes[0]
      for (const name of stack.split(' ')) {
        let child = nodes.find(({ id, of }) => at.children.includes(id) && of === name)
        if (child === undefined) {
          child = { ...node(name), id: nodes.length + 1 }
          nodes.push(child)
          at.children.push(child.id)
        }
        at = child
      }
      return Array(ms).fill(at.id)
    })
    const endTime = 1 + 1000 * (samples.length + 1)
    const profile = { nodes, startTime: 1, endTime, samples, timeDeltas: samples.map(() => 1000) }
    fs.mkdirSync(path.join(folder, `run-${run}`), { recursive: true })
    fs.writeFileSync(path.join(folder, `run-${run}`, 'run.cpuprofile'), JSON.stringify(profile))
  }
  return folder

  /** @param {string} name */
  function node(name) {
    const [functionName, line] = name.split(':')
    const url = line === '0' ? '' : 'file:///project/src/table.js'
    const scriptId = url === '' ? '0' : '1'
    const callFrame = { functionName, scriptId, url, lineNumber: Number(line) - 1 }
    return {
      id: 1,
      of: name,
      children: /** @type {number[]} */ ([]),
      callFrame: { ...callFrame, columnNumber: 0 },
    }
  }
}

/** Reads a comparison as the page does. @param {[string, string]} sides */
async function readPage(sides) {
  const recording = readRecording(JSON.parse(await comparePageData(sides, {})))
  const compared = sidesOf(recording)
  assert.ok(compared)
  return { recording, sides: compared }
}

test('a function is one box with its times on both sides, wherever its line is', async () => {
  const { recording, sides } = await readPage([writeRuns('base', BASE), writeRuns('head', HEAD)])
  assert.deepEqual(
    recording.processes.map(({ command }) => command),
    ['base (2 runs)', 'head (2 runs)'],
  )
  const span = { fromUs: 0, toUs: recording.durationUs }
  const costs = costsOf(recording, [0, 1], span)
  const { levels } = layoutFlame(
    recording,
    { state: readState('', recording), costs, function: -1 },
    1000,
  )
  const found = levels.flat().map((box) => {
    const { baseUs, headUs } = timesOf(sides, box)
    return [recording.names[box.item], Math.round(baseUs / 1000), Math.round(headUs / 1000)]
  })
  // The last sample of a profile lasts until its end.
  const rounded = found.map(([name, ...ms]) => [
    name,
    ...ms.map((each) => 10 * Math.round(+each / 10)),
  ])
  assert.deepEqual(rounded, [
    ['main', 330, 410],
    ['render', 200, 190],
    ['parse', 100, 180],
    ['fresh', 0, 40],
    ['old', 30, 0],
    ['match', 100, 180],
  ])
  const main = recording.names.indexOf('main')
  const { callers, callees } = callsOfSides(recording, sides, main)
  assert.deepEqual(
    callees.map(({ item, us }) => [recording.names[item], Math.sign(us)]),
    [
      ['parse', 1],
      ['fresh', 1],
      ['old', -1],
      ['render', -1],
    ],
  )
  assert.deepEqual([callers.length, callers[0].item], [1, -1])
})

test('a comparison has neither the graph by time nor lines', async () => {
  const { recording } = await readPage([writeRuns('base', BASE), writeRuns('head', HEAD)])
  const state = readState('#view=time&table=lines', recording)
  assert.deepEqual([state.view, state.table], ['heavy', 'functions'])
})

test('the page is written beside the text, or printed', async () => {
  const sides = [writeRuns('base', BASE), writeRuns('head', HEAD)]
  const file = path.join(temporaryDirectory(), 'reports', 'page.html')
  const rule = ['--fail-on', 'function:match>200%']
  const written = await cli(['compare', ...sides, '--html', file, ...rule])
  assert.equal(written.code, 0, written.stderr)
  assert.match(written.stdout, /base {2}2 runs/)
  assert.match(fs.readFileSync(file, 'utf8'), /^<!doctype html>/)

  const printed = await cli(['compare', ...sides, '--shares', '--html', '-'])
  assert.equal(printed.code, 0, printed.stderr)
  assert.equal(printed.stdout, fs.readFileSync(file, 'utf8'))

  const folder = path.dirname(file)
  const refused = await cli(['compare', ...sides, '--html', folder])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, pattern`${messages.htmlIsFolder(folder)}`)
})

test('the page shows differences in a browser', { skip }, async (t) => {
  const sides = [writeRuns('base', BASE), writeRuns('head', HEAD)]
  const file = path.join(temporaryDirectory(), 'page.html')
  const { code, stderr } = await cli(['compare', ...sides, '--html', file])
  assert.equal(code, 0, stderr)
  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const page = await browser.contexts()[0].newPage()
  /** @type {string[]} */
  const problems = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(pathToFileURL(file).href)
  await page.locator('body:not(.loading)').waitFor()

  assert.equal(await page.title(), 'base (2 runs) → head (2 runs)')
  assert.match(
    (await page.locator('#summary').textContent()) ?? '',
    /^work of a run: \d+ ms → \d+ ms \(\+\d+ ms\)$/,
  )
  assert.equal(await page.locator('.timeline').isVisible(), false)
  const rows = await page.locator('#table tbody tr').allTextContents()
  assert.match(rows[0], /^\+8\d ms.*10\d ms → 18\d ms ?match/)

  const shows = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
    until(page, `${pattern}.test(document.querySelector('${id}').textContent)`)
  // Below main are render, parse, fresh and old: the last box is blue, parse is orange.
  const canvas = await page.locator('#flame').boundingBox()
  assert.ok(canvas)
  await page.mouse.move(canvas.x + canvas.width - 4, canvas.y + 27)
  await shows('#hover', /^old {2}3\d ms → 0\.0 ms \(−3\d ms\)/)
  const [left, right] = await page.evaluate(`(() => {
    const canvas = document.getElementById('flame')
    const ratio = canvas.width / canvas.clientWidth
    const row = canvas.getContext('2d').getImageData(0, 22 * ratio, canvas.width, 1).data
    const at = (x) => [...row.slice(4 * Math.round(x * ratio)).slice(0, 3)]
    return [at(canvas.clientWidth * 0.7), at(canvas.clientWidth - 3)]
  })()`)
  assert.ok(left[0] > left[2] + 50, `parse is ${left}`)
  assert.ok(right[2] > right[0] + 50, `old is ${right}`)

  await page.locator('#table button', { hasText: 'parse' }).click()
  await shows('#detail', /total 100 ms → 180 ms/)
  assert.deepEqual(problems, [])
})
