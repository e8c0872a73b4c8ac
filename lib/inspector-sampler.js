'use strict'

// Samples by way of `node:inspector`, where V8's own functions cannot be reached. Only JavaScript
// can take a window here, so that needs a turn of the event loop, and the last one a listener.

// Not the global one: test runners put their own in its place.
const console = require('node:console')
const inspector = require('node:inspector')
const timers = require('node:timers')

// The program can patch all of these later.
const { profile, profileEnd } = console
const { connect, disconnect, post } = inspector.Session.prototype
const { apply, setPrototypeOf } = Reflect
const { stringify } = JSON
const { setInterval, clearInterval } = timers

/** What the addon answers to a window. */
const SAMPLE_ON = 0
const GIVE_UP = 1

/** The share of the thread's time that windows may take, unless the user set their distance. */
const MOST_SHARE = 1 / 20

/** @typedef {import('node:inspector').Session} Session */
/** @typedef {{ addon: any, intervalUs: number, isFixed: boolean, realm: typeof globalThis }} Plan */

/**
 * Starts to sample this thread; throws if it cannot be.
 * @param {any} addon
 * @param {number} intervalUs between two samples
 * @param {number} flushMs between two windows
 * @param {boolean} isFixed whether the user wants just these
 * @param {typeof globalThis} realm Node's own global object: jest shows its tests another process
 * @returns {() => void} stops, once the last window is handed over
 */
function start(addon, intervalUs, flushMs, isFixed, realm) {
  const { process } = realm
  const { on, removeListener } = process
  const sampler = new Sampler({ addon, intervalUs, isFixed, realm })
  sampler.start()
  // No handle, and it keeps no loop alive.
  const timer = setInterval(() => guarded(tick), flushMs).unref()
  const onExit = () =>
    guarded(() => {
      clearInterval(timer)
      try {
        sampler.stop()
      } finally {
        addon.end()
      }
    })
  apply(on, process, ['exit', onExit])

  function tick() {
    if (!sampler.tick()) stop()
  }

  function stop() {
    clearInterval(timer)
    apply(removeListener, process, ['exit', onExit])
    sampler.stop()
  }
  return () => guarded(stop)
}

/** Nothing that fails here may reach the program. @param {() => void} f */
function guarded(f) {
  try {
    f()
  } catch {
    // The files keep what they have.
  }
}

class Sampler {
  /** Ends the profile that runs, and hands it over. @type {(() => void) | null} */
  #end = null
  /** A session that `console.profile()` starts profiles in. @type {Session | null} */
  #shared = null
  /** Sessions without a profile. @type {Session[]} */
  #spare = []
  /** @type {Session[]} */
  #all = []
  /** The titles of `#shared`'s profiles that are not ended. @type {Set<string>} */
  #titles = new Set()
  #count = 0
  #since = 0n
  #due = 0n
  #answer = SAMPLE_ON
  #plan
  #now
  #execArgv

  /** @param {Plan} plan */
  constructor(plan) {
    const { process } = plan.realm
    this.#plan = plan
    this.#now = process.hrtime.bigint
    this.#execArgv = process.execArgv.join(' ')
  }

  start() {
    this.#end = this.#begin()
  }

  /** Takes a window, if that is due. @returns {boolean} whether to go on */
  tick() {
    const since = this.#now()
    if (since < this.#due) return true
    this.#since = since
    const { isFixed } = this.#plan
    if (this.#answer === SAMPLE_ON) {
      // The next one before the last one ends, so that V8 keeps its notes and its thread.
      const end = this.#end
      this.#end = this.#begin()
      end?.()
    } else {
      this.#answer = SAMPLE_ON
      this.#end?.()
      this.#end = this.#begin()
    }
    this.#discardLogs()
    const end = this.#now()
    if (!isFixed) this.#due = end + (end - since) * BigInt(1 / MOST_SHARE)
    return this.#answer !== GIVE_UP
  }

  stop() {
    this.#since = this.#now()
    try {
      this.#end?.()
    } finally {
      this.#end = null
      this.#discardLogs()
      for (const session of this.#all) apply(disconnect, session, [])
    }
  }

  /** An inspector with a session keeps what the program logs, a thousand values. */
  #discardLogs() {
    // A program's own way to write objects is not to be called.
    if ('toJSON' in this.#plan.realm.Object.prototype) return
    const [session] = this.#all
    if (session !== undefined) apply(post, session, ['Runtime.discardConsoleEntries'])
  }

  #begin() {
    return (this.#mayShare() && this.#beginShared()) || this.#beginAlone()
  }

  /**
   * `console.profile()` starts a profile in every session that has the profiler's domain enabled.
   * Node's own ones for coverage and `--cpu-prof` would say on stderr that they did not expect it,
   * and a debugger would collect it.
   */
  #mayShare() {
    return (
      process.env.NODE_V8_COVERAGE === undefined &&
      inspector.url() === undefined &&
      !/--(cpu-prof|experimental-test-coverage)/.test(
        `${this.#execArgv} ${process.env.NODE_OPTIONS}`,
      )
    )
  }

  /** All profiles of one session share V8's profiler: to start one more takes microseconds. */
  #beginShared() {
    this.#shared ??= this.#connect((method, { params }) => {
      if (method === 'Profiler.consoleProfileStarted') this.#titles.add(params.title)
      if (method !== 'Profiler.consoleProfileFinished' || !this.#titles.delete(params.title)) return
      if (params.title.startsWith('cpu-prof ')) guarded(() => this.#handOver(params.profile))
    })
    const title = `cpu-prof ${++this.#count}`
    apply(profile, console, [title])
    if (!this.#titles.has(title)) return null
    // If the program did that before, the window is handed over already.
    return () => apply(profileEnd, console, [title])
  }

  /** Each session has a profiler of its own, for which V8 walks the heap. */
  #beginAlone() {
    const session = this.#spare.pop() ?? this.#connect(() => {})
    send(session, 'Profiler.start')
    return () => {
      this.#spare.push(session)
      this.#handOver(send(session, 'Profiler.stop').profile)
    }
  }

  /** @param {(method: string, message: any) => void} onEvent @returns {Session} */
  #connect(onEvent) {
    const session = new inspector.Session()
    // Not through the prototype: programs patch EventEmitter's.
    session.emit = (/** @type {string | symbol} */ method, /** @type {any[]} */ ...[message]) => {
      onEvent(String(method), message)
      return true
    }
    apply(connect, session, [])
    this.#all.push(session)
    send(session, 'Profiler.enable')
    send(session, 'Profiler.setSamplingInterval', { interval: this.#plan.intervalUs })
    return session
  }

  /** @param {any} profile */
  #handOver(profile) {
    const answer = this.#plan.addon.window(asText(profile), Number(this.#since / 1000n))
    if (this.#answer !== GIVE_UP) this.#answer = answer
  }
}

/** The answer comes before this returns. @param {Session} session @param {string} method @param {object} [params] */
function send(session, method, params) {
  /** @type {any[]} */
  let answer = []
  apply(post, session, [method, params, (/** @type {any[]} */ ...args) => (answer = args)])
  if (answer[0]) throw new Error(`${method}: ${answer[0].message}`)
  return answer[1]
}

/** @param {any} profile */
function asText(profile) {
  // A program's own way to write objects is neither to be called nor to be read.
  if ('toJSON' in profile || 'toJSON' in profile.nodes) withoutPrototypes(profile)
  return stringify(profile)
}

/** @param {any} value */
function withoutPrototypes(value) {
  if (typeof value !== 'object' || value === null) return
  setPrototypeOf(value, null)
  for (const key in value) withoutPrototypes(value[key])
}

module.exports = { start }
