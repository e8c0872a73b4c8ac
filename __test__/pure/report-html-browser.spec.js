'use strict'

// The HTML report in a real browser.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { cli } = require('../helpers/cli.js')
const {
  findChromium,
  openReport,
  startChromium,
  until,
  whyNoBrowser,
} = require('../helpers/chromium.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** Text that would run as a script if it were HTML. */
const HOSTILE = '</script><img src=x onerror="document.title=1">'

/** Writes the recordings of a program and its worker, a second of each. @param {string} cwd @returns {string[]} */
function writeProgram(cwd) {
  const of = { label: 'program.js', cwd: '/project' }
  const again = 'again program.js:6@7 > again program.js:6@7 > spin program.js:3@4'
  const main = writeTrace(path.join(cwd, 'main.trace.json'), {
    ...of,
    spans: [
      ['(program)', 20],
      [`main program.js:1 > ${again}`, 150],
      ['main program.js:1 > fill program.js:9@10', 100],
      ['(garbage collector)', 30],
      ['main program.js:1 > sleep program.js:12@13', 500, { cpuMs: 0 }],
      ['(idle)', 140],
      ['spin program.js:3@4', 60],
    ],
  })
  const worker = writeTrace(path.join(cwd, 'worker.trace.json'), {
    ...of,
    tid: 1,
    script: 'program.js',
    spans: [
      [again, 90],
      ['(idle)', 910],
    ],
  })
  return [main, worker]
}

test('the page works in a browser, without a request', { skip, timeout: 180_000 }, async (t) => {
  const cwd = temporaryDirectory()
  const recordings = writeProgram(cwd)
  const page = path.join(cwd, 'out', 'report.html')
  const written = await cli(['report', ...recordings, '--html', 'out/report.html'], { cwd })
  assert.equal(written.code, 0, written.stderr)
  assert.equal(written.stdout, `${page}\n`)
  assert.deepEqual(fs.readdirSync(path.dirname(page)), ['report.html'])

  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const view = await openReport(browser, page)
  const { text, shows } = view
  assert.match(await text('#title'), /^program\.js$/)
  assert.equal(await text('#summary'), '1.00 s · 1 process, 2 threads · busy 450 ms')
  const states = /JavaScript 400 ms.*native code 20 ms.*gc 30 ms.*blocked 500 ms.*idle 1\.05 s/
  assert.match(await text('#states'), states)
  const table = await text('#table')
  assert.match(table, /300 ms300 ms220 ms–66\.7%spin program\.js:3100 ms/)
  assert.match(table, /––500 ms500 ms0\.0%sleep program\.js:12/)
  // Both canvases are drawn.
  for (const id of ['timeline', 'flame']) assert.ok((await coloursIn(view.page, id)) > 3, id)

  // Under the pointer, then selected.
  const box = await view.page.locator('#flame').boundingBox()
  assert.ok(box)
  await view.page.mouse.move(box.x + 20, box.y + 5)
  await shows('#hover', /^main {2}250 ms \(55\.6%\)program\.js:1$/)
  await view.page.mouse.click(box.x + 20, box.y + 5)
  await shows('#detail', /^main .*total 250 ms \(55\.6%\) · self 0\.0 ms \(0\.0%\)/)

  // A function of the table, with its callers.
  await view.page
    .locator('#table button', { hasText: /^spin$/ })
    .first()
    .click()
  const callers = /callers, [^%]*240 ms53\.3%again program\.js:660 ms13\.3%\(event loop\)/
  await shows('#detail', callers)
  await shows('#detail', /^spin .*total 300 ms .*lines, by self time300 ms66\.7%line 4/)

  // Search.
  await view.page.keyboard.press('/')
  await view.page.keyboard.type('fill')
  await shows('#table', /^(?!.*spin).*fill program\.js:9/)
  await shows('#found', /^22\.2% of work$/)
  await view.page.keyboard.press('Escape')

  // A selected function is marked where it ran; the time line tells its time in each row.
  await shows('#threads', /^▾program\.js \(7\)300 msmain210 msworker 1: program\.js90 ms/)

  // One thread, then a part of its time.
  const threads = view.page.locator('#threads button.label')
  const names = ['program.js (7)', 'main', 'worker 1: program.js']
  assert.deepEqual(await threads.allTextContents(), names)
  await threads.nth(2).click()
  await shows('#summary', /^1\.00 s · 1 process, 1 thread · busy 90 ms$/)
  // A table of another length can scroll the page.
  await shows('#table', /90 ms90 ms/)
  const line = await view.page.locator('#timeline').boundingBox()
  assert.ok(line)
  await view.page.mouse.move(line.x + 10, line.y + 30)
  await view.page.mouse.down()
  await view.page.mouse.move(line.x + line.width / 2, line.y + 30, { steps: 3 })
  await view.page.mouse.up()
  await until(view.page, "location.hash.includes('from=')")
  for (const [key, expected] of [
    ['1', 'view=time'],
    ['3', 'view=inverted'],
    ['t', 'table=calls'],
    ['t', 'table=files'],
    ['l', 'theme='],
  ]) {
    await view.page.keyboard.press(key)
    await until(view.page, `location.hash.includes('${expected}')`)
  }

  // Tables follow later than the address.
  await shows('#table', /share *file.*program\.js/)

  // The address keeps all of that.
  const [hash, summary, files] = [view.page.url(), await text('#summary'), await text('#table')]
  assert.match(hash, /threads=1&.*function=\d+/)
  await view.page.goto('about:blank')
  await view.page.goto(hash)
  await until(view.page, "!document.body.classList.contains('loading')")
  assert.deepEqual([await text('#summary'), await text('#table')], [summary, files])
  await view.page.locator('#whole').click()
  await shows('#summary', /2 threads/)

  assert.deepEqual(view.problems, [])
  assert.deepEqual(new Set(view.requests), new Set([pathToFileURL(page).href]))
})

test('names of a profile are text', { skip, timeout: 180_000 }, async (t) => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'a.cpuprofile')
  const hostile = { name: HOSTILE, file: 'a.js', line: 5 }
  writeProfile(file, [
    [[hostile], 1],
    [[hostile, 'b b.js:5'], 1],
  ])
  const { stdout, code } = await cli(['report', file, '--html', '-'], { cwd })
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /onerror/)
  const page = path.join(cwd, 'page.html')
  fs.writeFileSync(page, stdout)

  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const view = await openReport(browser, page)
  await view.page.locator('#table button', { hasText: 'onerror' }).click()
  await view.shows('#detail', /onerror/)
  assert.ok((await view.page.locator('#detail').textContent())?.includes(HOSTILE))
  assert.equal(await view.page.locator('img').count(), 0)
  assert.notEqual(await view.page.title(), '1')
  assert.deepEqual(view.problems, [])
})

test('the keyboard walks over the time line and through the calls', {
  skip,
  timeout: 180_000,
}, async (t) => {
  const cwd = temporaryDirectory()
  const page = path.join(cwd, 'report.html')
  const written = await cli(['report', ...writeProgram(cwd), '--html', page], { cwd })
  assert.equal(written.code, 0, written.stderr)
  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const { page: view, shows, text, problems } = await openReport(browser, page)
  const press = async (/** @type {string[]} */ ...keys) => {
    for (const key of keys) await view.keyboard.press(key)
  }
  const hasFocus = async (/** @type {string} */ name) => {
    await until(view, `document.activeElement.textContent === '${name}'`)
  }

  // From the last name beside the time line, Tab goes to the time line.
  await view.locator('#threads button.label').last().focus()
  await press('Tab', 'Home', 'PageDown', 'ArrowDown')
  await shows('#hover', /^100 ms {2}mainJavaScriptspin {2}program\.js:3again {2}program\.js:6/)
  assert.equal(await text('#moment'), '100 ms')
  const line = view.locator('#tracks .moment')
  assert.ok(await line.isVisible())
  await press('ArrowDown')
  await shows('#hover', /^100 ms {2}worker 1: program\.jsidle$/)
  await press('Shift+PageDown', 'Shift+PageDown')
  await shows('#summary', /^200 ms, from 100 ms on · /)
  await press('Enter', '1')
  await shows('#flame-title', /worker 1: program\.js/)
  assert.match(String(await view.locator('#timeline').getAttribute('aria-valuetext')), /idle$/)
  await press('Tab')
  await until(view, "document.getElementById('hover').hidden")
  assert.equal(await line.isVisible(), false)
  await view.locator('#whole').click()

  // The calls are a tree; its keys do not move the graph.
  await view.locator('#tabs button', { hasText: 'calls' }).click()
  await shows('#table', /250 ms–55\.6%▾main program\.js:1/)
  const calls = view.locator('#table tbody button:not([tabindex])')
  await calls.first().focus()
  await press('ArrowDown', 'ArrowRight')
  await hasFocus('again')
  assert.equal(await view.locator('#table tr[aria-level="3"]').count(), 1)
  await press('ArrowRight', 'ArrowRight', 'ArrowRight')
  await hasFocus('spin')
  await press('Enter')
  await shows('#detail', /^spin /)
  await hasFocus('spin')
  await press('ArrowLeft', 'ArrowLeft')
  await hasFocus('again')
  assert.equal(await view.locator('#table tr[aria-level="4"]').count(), 0)
  // The pointer opens a call too, and the keyboard goes on there.
  await view.locator('#table .toggle', { hasText: '▸' }).first().click()
  await hasFocus('again')
  assert.equal(await view.locator('#table tr[aria-level="4"]').count(), 1)
  await press('3')
  await shows('#table', /^totalselfsharecall300 ms300 ms66\.7%▾spin program\.js:3/)
  assert.deepEqual(problems, [])
})

/** Counts the colours in a canvas. @param {import('playwright-core').Page} page @param {string} id */
function coloursIn(page, id) {
  return page.evaluate(`(() => {
    const canvas = document.getElementById('${id}')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size
  })()`)
}
