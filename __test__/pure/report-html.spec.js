'use strict'

// The HTML report: its numbers are those of report(), and the page works in a real browser.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { costsOf, callsOf, lineCosts } = require('../../cli/page/costs.js')
const { byTime, inverted, leftHeavy } = require('../../cli/page/flame-layout.js')
const { readRecording } = require('../../cli/page/recording.js')
const { readState, threadsOf, writeState } = require('../../cli/page/state.js')
const { cli } = require('../helpers/cli.js')
const { findChromium, startChromium, until, whyNoBrowser } = require('../helpers/chromium.js')
const { run, temporaryDirectory } = require('../helpers/run.js')

const chromium = findChromium()
const skip = whyNoBrowser(chromium)

/** A main thread and a worker that work, collect garbage, wait and are blocked. */
const PROGRAM = `
const { Worker, isMainThread } = require('node:worker_threads')
function spin(ms) {
  for (const end = performance.now() + ms; performance.now() < end; );
}
function again(depth) {
  return depth > 0 ? again(depth - 1) : spin(100)
}
function collect() {
  for (const end = performance.now() + 100; performance.now() < end; ) globalThis.list = new Array(1e5).fill({})
}
function sleep() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700)
}
again(4)
if (isMainThread) {
  new Worker(__filename)
  collect()
  sleep()
  setTimeout(spin, 300, 100)
}
`

/** Text that would run as a script if it were HTML. */
const HOSTILE = '</script><img src=x onerror="document.title=1">'

/** Records {@link PROGRAM}. */
async function record() {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'program.js'), PROGRAM)
  const { code, stderr, files } = await run(['./program.js'], { cwd })
  assert.equal(code, 0, stderr)
  return { cwd, files }
}

/**
 * Writes a profile of one thread.
 * @param {string} file @param {string[][]} stacks of the samples, a millisecond each, from the top
 */
function writeProfile(file, stacks) {
  /** @type {any[]} */
  const nodes = [{ id: 1, callFrame: frame('(root)'), children: [] }]
  const samples = stacks.map((stack) => {
    let node = nodes[0]
    for (const name of stack) {
      const children = nodes.filter(({ id }) => node.children.includes(id))
      let child = children.find(({ callFrame }) => callFrame.functionName === name)
      if (child === undefined) {
        child = { id: nodes.length + 1, callFrame: frame(name), children: [] }
        nodes.push(child)
        node.children.push(child.id)
      }
      node = child
    }
    return node.id
  })
  const timeDeltas = samples.map(() => 1000)
  const endTime = 1 + 1000 * (samples.length + 1)
  fs.writeFileSync(file, JSON.stringify({ nodes, startTime: 1, endTime, samples, timeDeltas }))

  /** @param {string} functionName */
  function frame(functionName) {
    const isCode = !functionName.startsWith('(')
    const url = isCode ? `file:///project/${functionName.length}.js` : ''
    const scriptId = isCode ? '1' : '0'
    return { functionName, scriptId, url, lineNumber: isCode ? 4 : -1, columnNumber: -1 }
  }
}

/** Reads inputs as the page does. @param {string[]} inputs */
async function readPage(inputs) {
  return readRecording(JSON.parse(await pageData(inputs, {})))
}

/** Returns the costs of all that is selected at first. @param {import('../../cli/page/recording.js').Recording} recording */
function allCosts(recording) {
  const threads = threadsOf(readState('', recording), recording)
  return costsOf(recording, threads, { fromUs: 0, toUs: recording.durationUs })
}

test('times are those of report(), in all tables', async () => {
  const { files } = await record()
  const recording = await readPage(files)
  const costs = allCosts(recording)
  const whole = await report(files, { top: Number.POSITIVE_INFINITY })

  /** @param {number} us @param {number} ms @param {string} what */
  const same = (us, ms, what) =>
    assert.ok(Math.abs(us / 1000 - ms) < 0.02, `${what}: ${us / 1000} and ${ms} ms`)
  const { busy, gc, program, idle, blocked } = costs.states
  const { busyMs, gcMs, programMs, idleMs, blockedMs } = whole.totals
  same(busy, busyMs, 'busy')
  same(gc, gcMs, 'gc')
  same(program, programMs, 'program')
  same(idle, idleMs, 'idle')
  same(blocked, blockedMs, 'blocked')
  assert.ok(blockedMs > 300, `${blockedMs} ms blocked`)
  assert.ok(gcMs > 0)

  const { functionCosts, fileCosts, packageCosts, ownerCosts } = costs
  assert.ok(whole.functions.length > 5)
  for (const { name, file, line, column, ...times } of whole.functions) {
    const item = recording.names.findIndex(
      (other, item) =>
        other === name &&
        recording.lines[item] === line &&
        recording.columns[item] === column &&
        pathOf(recording, item, file),
    )
    assert.ok(item >= 0, `${name} ${file}:${line}`)
    same(functionCosts.self[item], times.selfMs, `self time of ${name}`)
    same(functionCosts.total[item], times.totalMs, `total time of ${name}`)
    same(functionCosts.blocked[item], times.blockedMs, `blocked time of ${name}`)
  }
  for (const { name, totalMs, selfMs } of whole.packages) {
    const item = recording.packages.indexOf(name)
    same(packageCosts.self[item], selfMs, name)
    same(packageCosts.total[item], totalMs, name)
  }
  for (const { name, totalMs, selfMs } of whole.owners) {
    const item = recording.ownerNames.indexOf(name)
    same(ownerCosts.self[item], selfMs, name)
    same(ownerCosts.total[item], totalMs, name)
  }
  const fileTotals = [...fileCosts.total].sort((a, b) => b - a)
  const wanted = whole.files.map(({ totalMs }) => totalMs).sort((a, b) => b - a)
  for (const [index, ms] of wanted.entries()) same(fileTotals[index], ms, `file ${index}`)

  const detail = (await report(files, { function: 'again' })).details?.[0]
  const again = recording.names.indexOf('again')
  const { callers, callees } = callsOf(recording, costs, again)
  const names = callers.map(({ item }) => recording.names[item])
  assert.deepEqual(
    names,
    detail?.callers.map(({ name }) => name),
  )
  for (const [index, { us }] of callers.entries()) {
    same(us, Number(detail?.callers[index].totalMs), 'caller')
  }
  same(callees[0].us, Number(detail?.callees[0].totalMs), 'callee')
  const lines = lineCosts(recording, costs)
  const line = lines.find(({ item }) => recording.names[item] === 'spin')
  const known = whole.lines.find(({ name, line: at }) => name === 'spin' && at === line?.line)
  same(Number(line?.us), Number(known?.selfMs), 'line')

  // Half of the time has half of an even load: the parts sum up to the whole.
  const half = recording.durationUs / 2
  const threads = threadsOf(readState('', recording), recording)
  const parts = [
    costsOf(recording, threads, { fromUs: 0, toUs: half }),
    costsOf(recording, threads, { fromUs: half, toUs: recording.durationUs }),
  ]
  same(parts[0].workUs + parts[1].workUs, costs.workUs / 1000, 'two halves')
})

/** @param {import('../../cli/page/recording.js').Recording} recording @param {number} item @param {string} file */
function pathOf({ filePaths, files }, item, file) {
  return (
    files[item] !== -1 &&
    (filePaths[files[item]] === file || file.endsWith(`/${filePaths[files[item]]}`))
  )
}

test('flame graphs have the boxes of the stacks', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  const stacks = [['a'], ['a', 'b'], ['a', 'b'], ['(garbage collector)'], ['c', 'b'], ['(idle)']]
  writeProfile(file, stacks)
  const recording = await readPage([file])
  const costs = allCosts(recording)
  const names = (/** @type {import('../../cli/page/flame-layout.js').Flame} */ { levels }) =>
    levels.map((level) =>
      level.map(
        ({ item, from, to }) => `${recording.names[item]} ${Math.round((to - from) / 1000)}`,
      ),
    )
  assert.deepEqual(names(leftHeavy(recording, costs, undefined, 700)), [
    ['a 3', '(garbage collector) 1', 'c 1'],
    ['b 2', 'b 1'],
  ])
  assert.deepEqual(names(inverted(recording, costs, undefined, 700)), [
    ['b 3', 'a 1', '(garbage collector) 1'],
    ['a 2', 'c 1'],
  ])
  // The collection is drawn on the stack that it interrupted.
  const view = { from: 0, to: recording.durationUs, width: 700 }
  assert.deepEqual(names(byTime(recording, 0, view)), [
    ['a 4', 'c 1'],
    ['b 3', 'b 1'],
    ['(garbage collector) 1'],
  ])
  const zoomed = byTime(recording, 0, { from: 2000, to: 3000, width: 100 })
  assert.deepEqual(names(zoomed), [['a 1'], ['b 1']])
})

test('a million samples are thinned, with the same times', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  const stacks = Array.from({ length: 1_000_000 }, (_, at) => [['a'], ['a', 'b'], ['c']][at % 3])
  writeProfile(file, stacks)
  const recording = await readPage([file])
  const { workUs, functionCosts } = allCosts(recording)
  assert.equal(recording.thinnedToUs, 2000)
  const { length } = recording.threads[0].leaves
  assert.ok(length <= 500_001, `${length} samples`)
  assert.ok(Math.abs(workUs - 1e9) < 1e4, `${workUs}`)
  for (const [name, us] of /** @type {const} */ ([
    ['a', 2e9 / 3],
    ['b', 1e9 / 3],
    ['c', 1e9 / 3],
  ])) {
    const total = functionCosts.total[recording.names.indexOf(name)]
    assert.ok(Math.abs(total - us) < 1e6, `${name}: ${total}`)
  }
})

test('a fragment keeps the choices, and a wrong one does no harm', async () => {
  const file = path.join(temporaryDirectory(), 'a.cpuprofile')
  writeProfile(file, [['a'], ['b']])
  const recording = await readPage([file])
  const chosen = 'from=100&to=900&threads=0&thread=0&view=inverted&table=lines&sort=total&query=a+b'
  const state = readState(`#${chosen}&function=3&theme=dark`, recording)
  assert.deepEqual(readState(writeState(state), recording), state)
  const wrong = '#from=9&to=1&threads=7,x&thread=-1&view=<b>&table=none&function=1e9&theme=&x'
  assert.equal(writeState(readState(wrong, recording)), '')
})

test('the page works in a browser, without a request', { skip }, async (t) => {
  const { cwd, files } = await record()
  const page = path.join(cwd, 'out', 'report.html')
  const written = await cli(['report', ...files, '--html', 'out/report.html'], { cwd })
  assert.equal(written.code, 0, written.stderr)
  assert.equal(written.stdout, `${page}\n`)
  assert.deepEqual(fs.readdirSync(path.dirname(page)), ['report.html'])

  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const view = await openPage(browser, page)
  const text = async (/** @type {string} */ id) => String(await view.page.locator(id).textContent())
  const shows = (/** @type {string} */ id, /** @type {RegExp} */ pattern) =>
    until(view.page, `${pattern}.test(document.querySelector('${id}').textContent)`)
  assert.match(await text('#title'), /^program\.js$/)
  assert.match(await text('#summary'), / · 1 process, 2 threads · busy .*, gc .*, blocked .*/)
  assert.match(await text('#table'), /spin program\.js:3/)

  // Both canvases are drawn.
  for (const id of ['timeline', 'flame']) assert.ok((await coloursIn(view.page, id)) > 3, id)

  // Under the pointer, then selected.
  const box = await view.page.locator('#flame').boundingBox()
  assert.ok(box)
  await view.page.mouse.move(box.x + 20, box.y + 5)
  await shows('#hover', /\S+ .* \d+(\.\d+)? m?s \(\d+\.\d%\)/)
  await view.page.mouse.click(box.x + 20, box.y + 5)
  await shows('#detail', /total .* · self /)

  // A function of the table, with its callers.
  await view.page
    .locator('#table button', { hasText: /^spin$/ })
    .first()
    .click()
  await shows('#detail', /spin[\s\S]*callers[\s\S]*again[\s\S]*lines/)

  // Search.
  await view.page.keyboard.press('/')
  await view.page.keyboard.type('collect')
  await shows('#table', /^(?!.*spin).*collect/)
  await shows('#found', /%/)
  await view.page.keyboard.press('Escape')

  // One thread, then a part of its time.
  const threads = view.page.locator('#threads button')
  assert.deepEqual(await threads.allTextContents().then((all) => all.length), 3)
  await threads.nth(2).click()
  await shows('#summary', /1 thread /)
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
    ['t', 'table=files'],
    ['l', 'theme='],
  ]) {
    await view.page.keyboard.press(key)
    await until(view.page, `location.hash.includes('${expected}')`)
  }

  // The address keeps all of that.
  const [hash, summary, table] = [view.page.url(), await text('#summary'), await text('#table')]
  assert.match(hash, /threads=1&.*function=\d+/)
  await view.page.goto('about:blank')
  await view.page.goto(hash)
  await until(view.page, "!document.body.classList.contains('loading')")
  assert.deepEqual([await text('#summary'), await text('#table')], [summary, table])
  await view.page.locator('#whole').click()
  await shows('#summary', /2 threads/)

  assert.deepEqual(view.problems, [])
  assert.deepEqual(new Set(view.requests), new Set([pathToFileURL(page).href]))
})

test('names of a profile are text', { skip }, async (t) => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'a.cpuprofile')
  writeProfile(file, [[HOSTILE], [HOSTILE, 'b']])
  const { stdout, code } = await cli(['report', file, '--html', '-'], { cwd })
  assert.equal(code, 0)
  assert.doesNotMatch(stdout, /onerror/)
  const page = path.join(cwd, 'page.html')
  fs.writeFileSync(page, stdout)

  const { browser, close } = await startChromium(/** @type {string} */ (chromium))
  t.after(close)
  const view = await openPage(browser, page)
  await view.page.locator('#table button', { hasText: 'onerror' }).click()
  await until(view.page, `document.querySelector('#detail').textContent.includes('onerror')`)
  assert.ok((await view.page.locator('#detail').textContent())?.includes(HOSTILE))
  assert.equal(await view.page.locator('img').count(), 0)
  assert.notEqual(await view.page.title(), '1')
  assert.deepEqual(view.problems, [])
})

/** Opens a page, and collects what it complains about and asks for. @param {import('playwright-core').Browser} browser @param {string} file */
async function openPage(browser, file) {
  const page = await browser.contexts()[0].newPage()
  /** @type {string[]} */
  const problems = []
  /** @type {string[]} */
  const requests = []
  page.on('console', (message) => problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => requests.push(request.url().replace(/#.*/, '')))
  await page.goto(pathToFileURL(file).href)
  await until(page, "!document.body.classList.contains('loading')")
  return { page, problems, requests }
}

/** Counts the colours in a canvas. @param {import('playwright-core').Page} page @param {string} id */
function coloursIn(page, id) {
  return page.evaluate(`(() => {
    const canvas = document.getElementById('${id}')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size
  })()`)
}

test('run writes the page beside the trace', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(
    path.join(cwd, 'program.js'),
    'for (const end = Date.now() + 200; Date.now() < end; );',
  )
  const options = ['--dir', 'out', '--html', 'out/page.html']
  const { code, stderr } = await cli(['run', ...options, process.execPath, 'program.js'], { cwd })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /\npage: out\/page\.html\n$/)
  assert.match(fs.readFileSync(path.join(cwd, 'out', 'page.html'), 'utf8'), /^<!doctype html>/)
})

test('a page that cannot be written is an error, before the run where possible', async () => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'a.cpuprofile')
  writeProfile(file, [['a']])
  for (const [output, message] of [
    ['.', /^cpu-prof: \. is a folder; --html needs the name of a file\n$/],
    ['x/', /^cpu-prof: x\/ is a folder/],
    [
      'a.cpuprofile/x.html',
      /^cpu-prof: a\.cpuprofile\/x\.html could not be written: E(EXIST|NOTDIR)/,
    ],
  ]) {
    const { code, stderr } = await cli(['report', file, '--html', String(output)], { cwd })
    assert.equal(code, 1)
    assert.match(stderr, /** @type {RegExp} */ (message))
  }
  const both = await cli(['report', file, '--html', 'x.html', '--json'], { cwd })
  assert.equal(both.code, 2)
  const nothing = await cli(['report', 'missing', '--html', 'x.html'], { cwd })
  assert.equal(nothing.code, 1)
  const folder = await cli(['run', '--html', '.', process.execPath, '-e', 'console.log(1)'], {
    cwd,
  })
  assert.deepEqual([folder.code, folder.stdout], [2, ''])
  assert.match(folder.stderr, /^cpu-prof: --html=\. is a folder; name a file: report\.html\n$/)
  assert.deepEqual(fs.readdirSync(cwd), ['a.cpuprofile'])
})
