'use strict'

// Measures how long a page takes to open that has half a million samples, and the work of the browser's main
// thread for each picture of a drag: over the time line, with Ctrl and the wheel, over both graphs.
// Usage: node bench/page.js [trace…]; without a trace, of four written processes with that many. Needs Chromium.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { findChromium, startChromium, until } = require('../__test__/helpers/chromium.js')
const { pageData } = require('../lib/offline.js')
const { writeHtml } = require('../cli/report/html.js')

/** Samples of all written processes. */
const SAMPLES = 560_000
const PROCESSES = 4
const FUNCTIONS = 3000
const MAX_DEPTH = 45
/** Pictures of each drag. */
const STEPS = 240

let seed = 4_711
/** Returns a whole number below a limit, the same each time. @param {number} limit */
function random(limit) {
  seed ^= seed << 13
  seed ^= seed >>> 17
  seed ^= seed << 5
  return (seed >>> 0) % limit
}

/** Writes a profile whose stacks grow and shrink at random. @param {string} file @param {number} count of samples */
function writeProfile(file, count) {
  const frame = (/** @type {number} */ item) => ({
    functionName: `work${item}`,
    scriptId: String(1 + (item % 200)),
    url: `file:///project/${item % 3 === 0 ? 'src' : `node_modules/package-${item % 17}`}/file-${item % 200}.js`,
    lineNumber: item,
    columnNumber: 4,
  })
  const root = { id: 1, callFrame: { ...frame(0), functionName: '(root)' }, depth: 0 }
  /** @type {any[]} */
  const nodes = [root]
  /** @type {Map<string, any>} */
  const known = new Map()
  /** @type {any[]} */
  const stack = [root]
  const samples = []
  for (let sample = 0; sample < count; sample++) {
    for (let pops = random(4); pops > 0 && stack.length > 8; pops--) stack.pop()
    for (let pushes = random(4); pushes > 0 && stack.length < MAX_DEPTH; pushes--) {
      const above = stack[stack.length - 1]
      // A function calls few others.
      const item = (above.id * 7 + random(2)) % FUNCTIONS
      const key = `${above.id} ${item}`
      let node = known.get(key)
      if (node === undefined) {
        node = { id: nodes.length + 1, callFrame: frame(item), children: [] }
        known.set(key, node)
        nodes.push(node)
        above.children ??= []
        above.children.push(node.id)
      }
      stack.push(node)
    }
    samples.push(stack[stack.length - 1].id)
  }
  const timeDeltas = samples.map(() => 1000)
  const profile = { nodes, startTime: 1, endTime: 1 + 1000 * (count + 1), samples, timeDeltas }
  fs.writeFileSync(file, JSON.stringify(profile))
}

/**
 * Uses a page while the browser is traced, and returns the work for each picture: milliseconds.
 * @param {import('playwright-core').Browser} browser @param {import('playwright-core').Page} page
 * @param {() => Promise<void>} use
 */
async function measure(browser, page, use) {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] })
  await use()
  /** @type {any[]} */
  const events = JSON.parse(String(await browser.stopTracing())).traceEvents
  const frames = events.filter(({ name }) => name === 'FireAnimationFrame')
  const tasks = events.filter(
    ({ name, tid, pid }) =>
      /RunTask$/.test(name) && tid === frames[0]?.tid && pid === frames[0]?.pid,
  )
  const isIn = (/** @type {any} */ task) =>
    frames.some(({ ts }) => task.ts <= ts && ts <= task.ts + task.dur)
  return tasks
    .filter(isIn)
    .map(({ dur, tdur }) => (tdur ?? dur) / 1000)
    .sort((a, b) => a - b)
}

/** @param {string} name @param {number[]} sorted milliseconds */
function print(name, sorted) {
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]?.toFixed(1)
  console.log(
    `${name.padEnd(34)} ${String(sorted.length).padStart(4)} pictures: median ${at(0.5)} ms, ` +
      `98 % ${at(0.98)} ms, most ${at(1)} ms`,
  )
}

async function main() {
  const chromium = findChromium()
  if (chromium === undefined) throw new Error('Chromium was not found (set CHROMIUM to its path)')
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  let inputs = process.argv.slice(2)
  if (inputs.length === 0) {
    inputs = Array.from({ length: PROCESSES }, (_, index) => path.join(dir, `${index}.cpuprofile`))
    for (const input of inputs) writeProfile(input, SAMPLES / PROCESSES)
  }
  const file = path.join(dir, 'page.html')
  const data = await pageData(inputs, {})
  const { processes, tree } = JSON.parse(data)
  const samples = processes.flatMap((/** @type {any} */ process) =>
    process.threads.map((/** @type {any} */ thread) => thread.leaves.length),
  )
  const sum = samples.reduce((/** @type {number} */ all, /** @type {number} */ one) => all + one, 0)
  await writeHtml(file, async () => data)
  const { size } = fs.statSync(file)
  console.log(
    `${sum} samples, ${tree.parent.length} nodes, ${samples.length} threads, ${(size / 1e6).toFixed(1)} MB`,
  )

  const { browser, close } = await startChromium(chromium)
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
    const open = async (/** @type {string} */ fragment) => {
      await page.goto('about:blank')
      await page.goto(`${pathToFileURL(file)}${fragment}`)
      await until(page, "!document.body.classList.contains('loading')")
      return Number(await page.evaluate('performance.now()'))
    }
    const times = []
    for (let round = 0; round < 5; round++) times.push(await open(''))
    console.log(`open: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`)
    for (const view of ['heavy', 'time', 'inverted', 'sandwich']) {
      await open(`#view=${view}`)
      for (const [name, use] of Object.entries(drags(page))) {
        print(`${view}: ${name}`, await measure(browser, page, use))
      }
    }
  } finally {
    await close()
  }
}

/** Returns what a user does with the pointer. @param {import('playwright-core').Page} page @returns {Record<string, () => Promise<void>>} */
function drags(page) {
  /** @param {string} id @param {(box: { x: number, y: number, width: number }, step: number) => Promise<void>} act */
  const steps = async (id, act) => {
    const box = await page.locator(id).boundingBox()
    if (box === null) throw new Error(`${id} is not there`)
    for (let step = 0; step < STEPS; step++) await act(box, step)
  }
  return {
    'drag over the time line': () =>
      steps('#timeline', async ({ x, y, width }, step) => {
        await page.mouse.move(x + 20 + ((width - 40) * step) / STEPS, y + 10)
        if (step === 0) await page.mouse.down()
        if (step === STEPS - 1) await page.mouse.up()
      }),
    'zoom into the time line': async () => {
      await page.keyboard.down('Control')
      await steps('#timeline', async ({ x, y, width }, step) => {
        await page.mouse.move(x + width / 3, y + 10)
        await page.mouse.wheel(0, step % 60 < 30 ? -40 : 40)
      })
      await page.keyboard.up('Control')
    },
    'drag of the zoomed graph': async () => {
      for (let zoom = 0; zoom < 3; zoom++) await page.keyboard.press('w')
      await steps('.flame', async ({ x, y, width }, step) => {
        await page.mouse.move(x + width / 2 + 300 * Math.sin(step / 20), y + 60)
        if (step === 0) await page.mouse.down()
        if (step === STEPS - 1) await page.mouse.up()
      })
    },
  }
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
