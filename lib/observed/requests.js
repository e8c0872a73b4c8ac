'use strict'

// Adds the requests of the program to the recording, `node:http` and `fetch()`, and labels the work for them.

// Node tells the requests to diagnostics channels. To make its own performance entries of them costs Node
// many times as much.

const { channel } = require('node:diagnostics_channel')
const { performance } = require('node:perf_hooks')
const { clockOffsetUs } = require('./clock.js')
const { bounded, requestName, urlName } = require('./request-name.js')

/** @typedef {import('../addon.js').Recorder} Recorder */

/**
 * The kinds of requests, by their numbers in the addon: the channels of their begin and their end, and
 * their names when they begin. Routers change a request's URL while they handle it.
 */
const KINDS = [
  {
    begin: 'http.server.request.start',
    end: 'http.server.response.finish',
    name: (/** @type {any} */ { method, url }) => requestName(method, url),
  },
  {
    begin: 'http.client.request.start',
    end: 'http.client.response.finish',
    name: (/** @type {any} */ { method, protocol, host, path }) =>
      requestName(method, `${protocol}//${host}${path}`),
  },
  {
    begin: 'undici:request:create',
    end: 'undici:request:trailers',
    name: (/** @type {any} */ { origin, path }) => urlName(`${origin}${path}`),
  },
]

/** The channel on which a server's request begins, in the asynchronous context of its handler. */
const [{ begin: ANSWERED }] = KINDS

/** The most requests that are noted before the addon takes them. */
const MAX_NOTED = 256

/** Numbers of a noted request: as `request_notes.rs` of the addon reads them. */
const FIELDS = 6

/** UTF-16 units of the names of noted requests. */
const MAX_UNITS = 16_384

/** Indexes of the count of the noted requests, and of that of the used units. */
const COUNT = 0
const USED = 1

/** The most requests that are searched one by one. */
const MAX_SEARCHED = 32

/** A request that has begun. @typedef {{ request: object, name: string, startMs: number }} BegunRequest */

/**
 * The requests that have begun. The newest are searched: a `WeakMap` takes three times as long. So as many that
 * never end are kept.
 */
class BegunRequests {
  /** @type {(BegunRequest | undefined)[]} */
  #newest = new Array(MAX_SEARCHED).fill(undefined)
  #next = 0
  /** @type {WeakMap<object, BegunRequest>} */
  #others = new WeakMap()

  /** @param {BegunRequest} begun */
  add(begun) {
    const oldest = this.#newest[this.#next]
    if (oldest !== undefined) this.#others.set(oldest.request, oldest)
    this.#newest[this.#next] = begun
    this.#next = (this.#next + 1) % MAX_SEARCHED
  }

  /** Removes and returns what is known of a request. @param {object} request */
  take(request) {
    for (let i = 0; i < MAX_SEARCHED; i++) {
      const begun = this.#newest[i]
      if (begun?.request !== request) continue
      this.#newest[i] = undefined
      return begun
    }
    const begun = this.#others.get(request)
    this.#others.delete(request)
    return begun
  }
}

/**
 * Adds the requests of the calling thread to its recording. Returns the function that ends this.
 * @param {Recorder} addon
 */
function observe(addon) {
  // Tests replace the clock of the program.
  const now = performance.now.bind(performance)
  const note = notesOf(addon)
  const canLabel = addon.cpuProfCanLabel()
  const subscriptions = KINDS.flatMap(({ begin, end, name }, kind) => {
    const begun = new BegunRequests()
    return [
      subscribe(begin, ({ request }) => {
        const known = { request, name: name(request), startMs: now() }
        begun.add(known)
        if (begin === ANSWERED && canLabel) labelWork(known.name)
      }),
      subscribe(end, ({ request, response }) => {
        const known = begun.take(request)
        if (known === undefined) return
        const { name, startMs } = known
        note(kind, name, response?.statusCode, startMs, now() - startMs)
      }),
    ]
  })
  return () => {
    for (const unsubscribe of subscriptions) unsubscribe()
    addon.cpuProfTakeRequests()
  }
}

/**
 * Returns the function that notes a request that has ended, in memory of which the addon takes the requests
 * with each window.
 * @param {Recorder} addon
 */
function notesOf(addon) {
  // Kept on the addon because the addon reads the memory. With a buffer of its own, an array has a fixed place.
  addon.requestNotes ??= {
    numbers: new Float64Array(new ArrayBuffer(8 * (2 + MAX_NOTED * FIELDS))),
    units: new Uint16Array(new ArrayBuffer(2 * MAX_UNITS)),
  }
  const { numbers, units } = addon.requestNotes
  addon.cpuProfUseRequestNotes(numbers, units, clockOffsetUs(process.hrtime))
  const take = () => {
    addon.cpuProfTakeRequests()
    // In a thread that is no longer recorded, the addon takes nothing.
    numbers[COUNT] = numbers[USED] = 0
  }
  take()

  /** @param {number} kind @param {string} name @param {number | undefined} status @param {number} startMs @param {number} durationMs */
  return (kind, name, status, startMs, durationMs) => {
    const { length } = name
    if (numbers[COUNT] === MAX_NOTED || numbers[USED] + length > MAX_UNITS) take()
    const from = numbers[USED]
    for (let i = 0; i < length; i++) units[from + i] = name.charCodeAt(i)
    // In the loop, V8 can have called the addon, which has taken all. From here on V8 cannot.
    const count = numbers[COUNT]
    const at = 2 + count * FIELDS
    numbers[at] = kind
    numbers[at + 1] = status ?? 0
    numbers[at + 2] = from
    numbers[at + 3] = length
    numbers[at + 4] = startMs
    numbers[at + 5] = durationMs
    numbers[USED] = from + length
    numbers[COUNT] = count + 1
    if (count === 0) addon.cpuProfHasRequests()
  }
}

/** @type {((name: string) => void) | undefined} */
let label

/**
 * Labels the rest of the context of a request. Before Node 24 the requests of a connection share a context,
 * so the labels of the request before are replaced.
 * @param {string} name
 */
function labelWork(name) {
  if (label === undefined) {
    // Tried once: to look for a file that is gone takes long.
    label = () => {}
    label = loadLabels()
  }
  label(name)
}

/** Loads the code of labels, with the first request: a recorded program may answer none. */
function loadLabels() {
  const { replaceLabels } = require('../labels.js')
  return (/** @type {string} */ name) => replaceLabels({ http: bounded(name) })
}

/**
 * Subscribes to a channel. Returns the function that ends this.
 * @param {string} name @param {(message: any) => void} take
 */
function subscribe(name, take) {
  // Node forgets a channel that nobody holds.
  const subscribed = channel(name)
  /** @param {unknown} message */
  const guarded = (message) => {
    try {
      take(message)
    } catch {
      // The program can have patched what this calls. It must not see an error of the profiler.
    }
  }
  subscribed.subscribe(guarded)
  return () => subscribed.unsubscribe(guarded)
}

module.exports = { observe }
