'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { convert, merge, report } = require('../../index.js')
const { findChromium, whyNoBrowser } = require('../helpers/chromium.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

test('speedscope imports merged traces and the files converted from them', { skip }, async (t) => {
  const { chromium: driver } = require('playwright-core')
  const browser = await driver.launch({
    executablePath: chromium,
    args: ['--headless=new', '--no-sandbox', '--disable-gpu'],
  })
  t.after(() => browser.close())

  const recordings = temporaryDirectory()
  const write = (/** @type {import('../helpers/written.js').Recorded} */ thread) =>
    writeTrace(path.join(recordings, `${thread.tid}.trace.json`), { label: 'app.js', ...thread })
  write({
    tid: 0,
    spans: [
      ['main app.js:1', 50],
      ['(idle)', 250],
    ],
  })
  for (const tid of [1, 2]) {
    const spans = /** @type {[string, number][]} */ ([['crunch app.js:5 > spin spin.js:1', 200]])
    write({ tid, script: 'app.js', start: 1e9 + 20_000 * tid, spans, flushMs: 50, isKilled: true })
  }
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(recordings, at('all.json'))
  for (const name of ['a.speedscope.json', 'a.collapsed', 'a.cpuprofile']) {
    await convert(at('all.json'), at(name))
  }
  const [{ threads }] = (await report(at('all.json'))).processes
  const labels = threads.map(({ name }) => `app.js (pid 7) - ${name}`)
  assert.deepEqual(labels, [
    'app.js (pid 7) - main',
    'app.js (pid 7) - worker 1: app.js',
    'app.js (pid 7) - worker 2: app.js',
  ])

  for (const file of ['a.speedscope.json', 'all.json']) {
    const profiles = await imported(browser, at(file), labels.length)
    for (const label of labels) {
      const functions = profiles.find(({ title }) => title.includes(label))?.functions
      assert.ok(functions, `${file}: ${label} is not in ${profiles.map(({ title }) => title)}`)
      assert.equal(functions.has('crunch'), label !== labels[0], `${file}: ${label}`)
    }
  }
  const [{ functions: stacks }] = await imported(browser, at('a.collapsed'), 1)
  for (const label of labels) assert.ok(stacks.has(label), label)
  const [{ functions }] = await imported(browser, at('a.7.1.cpuprofile'), 1)
  assert.deepEqual([...functions].sort(), ['crunch', 'spin'])
})

/**
 * Imports a file into speedscope, and returns the title of each profile and the names of its
 * functions.
 * @param {import('playwright-core').Browser} browser @param {string} file @param {number} count
 */
async function imported(browser, file, count) {
  const app = path.join(path.dirname(require.resolve('speedscope/package.json')), 'dist/release')
  const page = await browser.newPage()
  /** @type {string[]} */
  const errors = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('dialog', (dialog) => {
    errors.push(dialog.message())
    return dialog.dismiss()
  })
  await page.goto(pathToFileURL(path.join(app, 'index.html')).href)
  await page.setInputFiles('input[type=file]', file)
  await page.waitForFunction(`document.title.includes(' - speedscope')`)
  const profiles = []
  for (let shown = 0; shown < count; shown++) {
    if (shown > 0) await page.keyboard.press('n')
    await page.keyboard.press('3')
    // Only visible rows are in the page, so the table is sorted by time.
    await page.getByRole('columnheader', { name: 'Total', exact: true }).click()
    const names = await page.locator('td:last-child').allTextContents()
    const text = String(await page.evaluate('document.body.innerText'))
    profiles.push({
      title: text.split('\n')[1],
      functions: new Set(names.map((name) => name.trim())),
    })
  }
  assert.deepEqual(errors, [], path.basename(file))
  await page.close()
  return profiles
}
