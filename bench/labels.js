'use strict'

// Measures what labels cost: a call of label(), a labelled span, and the CPU time of a recorded HTTP server
// that labels its requests in every second block, by label() or as the category `http` does, which also adds
// their events. Usage: node bench/labels.js [blocks]

const { AsyncLocalStorage } = require('node:async_hooks')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { ROOT_CONTEXT, trace } = require('@opentelemetry/api')
const { AsyncLocalStorageContextManager } = require('@opentelemetry/context-async-hooks')
const { NodeTracerProvider } = require('@opentelemetry/sdk-trace-node')
const { label, start, stop } = require('../index.js')
const { load } = require('../lib/addon.js')
const { observe } = require('../lib/observed/requests.js')
const { median } = require('./measure.js')

const BLOCK = 4000
const CLIENT = `
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
function next() {
  http.get({ port: process.argv[1], path: '/rows?n=' + (Date.now() % 3), agent }, (response) => {
    response.resume().on('end', next)
  }).on('error', () => process.exit())
}
for (let i = 0; i < 8; i++) next()`

const rows = Array.from({ length: 40 }, (_, id) => ({ id, name: `row ${id}`, tags: ['a', 'b'] }))

/** Answers a request as a small service does: some awaits, JSON and text. @param {http.IncomingMessage} request @param {http.ServerResponse} response */
async function answer({ url = '' }, response) {
  const { searchParams } = new URL(url, 'http://localhost')
  await null
  const wanted = Number(searchParams.get('n'))
  const found = JSON.parse(JSON.stringify(rows)).filter(
    (/** @type {{ id: number }} */ row) => row.id % 3 < wanted,
  )
  await null
  response.end(found.map((/** @type {any} */ row) => `<td>${row.id}</td>${row.name}`).join(''))
}

function cpuUs() {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Returns the CPU time of a call, nanoseconds: the median of blocks. @param {(i: number) => void} call */
function nsOf(call) {
  const blocks = Array.from({ length: 15 }, () => {
    const before = cpuUs()
    for (let i = 0; i < BLOCK * 10; i++) call(i & 63)
    return ((cpuUs() - before) * 1000) / (BLOCK * 10)
  })
  return median(blocks.slice(3)).toFixed(0)
}

function measureCalls() {
  const storage = new AsyncLocalStorage()
  let sum = 0
  const fn = () => sum++
  const run = nsOf((i) => storage.run(i, fn))
  const one = nsOf((i) => label({ route: `/route/${i}` }, fn))
  const two = nsOf((i) => label({ route: `/route/${i}`, tenant: 't1' }, fn))
  console.log(
    `label() with one label ${one} ns, with two ${two} ns; AsyncLocalStorage.run() ${run} ns`,
  )
}

/** Measures a span of OpenTelemetry that is active for a call, with the hook of docs/labels.md and without. */
function measureSpans() {
  class LabellingContextManager extends AsyncLocalStorageContextManager {
    /** @type {AsyncLocalStorageContextManager['with']} */
    with(context, fn, thisArg, ...args) {
      const { traceId = '', spanId = '' } = trace.getSpanContext(context) ?? {}
      return label({ traceId, spanId }, () => super.with(context, fn, thisArg, ...args))
    }
  }
  const tracer = new NodeTracerProvider().getTracer('bench')
  const fn = () => {}
  /** @param {AsyncLocalStorageContextManager} manager */
  const within = (manager) => {
    const span = tracer.startSpan('work', {}, ROOT_CONTEXT)
    manager.with(trace.setSpan(ROOT_CONTEXT, span), fn)
    span.end()
  }
  const [plain, labelling] = [new AsyncLocalStorageContextManager(), new LabellingContextManager()]
  const [without, labelled] = [nsOf(() => within(plain)), nsOf(() => within(labelling))]
  console.log(`an active span ${without} ns, with labels ${labelled} ns`)
}

/**
 * Measures a server in blocks of requests, every second of which is with labels.
 * @param {string} what @param {number} blocks
 * @param {(isLabelled: boolean) => void} begin begins a block @param {typeof answer} handle
 */
function measureServer(what, blocks, begin, handle) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-labels-'))
  /** CPU time of a request in each block, with and without labels. @type {number[][]} */
  const times = [[], []]
  let [requests, block, before] = [0, -4, 0]
  return new Promise((resolve) => {
    const server = http.createServer((request, response) => {
      if (requests++ % BLOCK === 0) {
        if (block > 0) times[block % 2].push((cpuUs() - before) / BLOCK)
        if (++block > 2 * blocks) {
          server.close()
          server.closeAllConnections()
          return resolve(undefined)
        }
        begin(block % 2 === 0)
        before = cpuUs()
      }
      handle(request, response)
    })
    server.listen(0, () => {
      start({ dir, categories: 'cpu' })
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      spawn(process.execPath, ['-e', CLIENT, String(port)], { stdio: 'inherit' })
    })
  }).then(() => {
    begin(false)
    const { samples } = stop()
    fs.rmSync(dir, { recursive: true })
    const [labelled, without] = times.map(median)
    const ratio = median(times[0].map((time, i) => time / times[1][i]))
    console.log(
      `${what}: a request without ${without.toFixed(1)} µs, with ${labelled.toFixed(1)} µs ` +
        `(median of ratios ${ratio.toFixed(3)}, ${blocks} blocks of ${BLOCK} requests, ${samples} samples)`,
    )
  })
}

/** @param {number} blocks */
async function main(blocks) {
  console.log(process.version)
  // First, because a program that has labelled work has contexts of its own.
  /** @type {() => void} */
  let end = () => {}
  const observeIf = (/** @type {boolean} */ labels) => {
    end()
    end = labels ? observe(load()) : () => {}
  }
  await measureServer('category http', blocks, observeIf, answer)
  let isLabelled = false
  const begin = (/** @type {boolean} */ labels) => {
    isLabelled = labels
  }
  await measureServer('label()', blocks, begin, (request, response) =>
    isLabelled
      ? label({ route: '/rows', tenant: 't1' }, () => answer(request, response))
      : answer(request, response),
  )
  measureCalls()
  measureSpans()
}

main(Number(process.argv[2] ?? 21))
