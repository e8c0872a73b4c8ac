'use strict'

// Samples the calling thread through `node:inspector`.

// Only JavaScript can take a window from this source. So a window needs a turn of the event loop,
// and the last one needs an `exit` listener.

// Test runners replace the global console.
const console = require('node:console')
const inspector = require('node:inspector')
const timers = require('node:timers')

// Copied now, because the program can patch all of these later.
const { profile, profileEnd } = console
const { connect, disconnect, post } = inspector.Session.prototype
const { apply, setPrototypeOf } = Reflect
const { stringify } = JSON
const number = Number
const { setInterval, clearInterval, setTimeout } = timers

/** @typedef {import('./addon.js').Recorder} Recorder */

/** Answers of the addon to a window. The third is `restart`: stop before the next start. */
const CONTINUE = 'continue'
const GIVE_UP = 'give up'

/** Share of the thread's time that taking windows may cost, unless the user set the flush interval. */
const MAX_SHARE = 1 / 20

/** @typedef {import('node:inspector').Session} Session */
/** @typedef {{ addon: Recorder, intervalUs: number, isFixed: boolean, realm: typeof globalThis }} Plan */

/**
 * Starts sampling the calling thread. Throws if the inspector refuses.
 * @param {Recorder} addon
 * @param {number} intervalUs between two samples
 * @param {number} flushMs between two windows
 * @param {boolean} isFixed whether the user set the flush interval
 * @param {unknown} globalObject Node's own; jest's tests see another `process`
 * @returns {() => void} hands over the last window and stops
 */
function start(addon, intervalUs, flushMs, isFixed, globalObject) {
  const realm = /** @type {typeof globalThis} */ (globalObject)
  const { process } = realm
  const { on, removeListener } = process
  const sampler = new Sampler({ addon, intervalUs, isFixed, realm })
  sampler.start()
  // An unref'd timer does not keep the event loop alive.
  const timer = setInterval(() => guarded(tick), flushMs).unref()
  const onExit = () =>
    guarded(() => {
      clearInterval(timer)
      try {
        sampler.stop()
      } finally {
        addon.cpuProfEnd()
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

/** Calls a function, and hides its errors from the program. @param {() => void} f */
function guarded(f) {
  try {
    f()
  } catch {
    // The files stay as they are.
  }
}

/**
 * @typedef {object} BegunRotation
 * @property {(() => void) | null} end ends the old profile, and hands it over
 * @property {bigint} from start of the first step, ns
 * @property {bigint} to end of the first step, ns
 */

class Sampler {
  /** Ends the current profile, and hands it over. @type {(() => void) | null} */
  #end = null
  /** The rotation whose old profile still runs. @type {BegunRotation | null} */
  #rotation = null
  /** The session in which `console.profile()` starts profiles. @type {Session | null} */
  #shared = null
  /** Sessions that have no profile now. @type {Session[]} */
  #spare = []
  /** @type {Session[]} */
  #all = []
  /** Titles of the running profiles of `#shared`. @type {Set<string>} */
  #titles = new Set()
  #count = 0
  /** Start of the step that hands a window over, ns. */
  #since = 0n
  /** The earliest time of the next window, ns. */
  #due = 0n
  /** @type {string} */
  #answer = CONTINUE
  #plan
  /** Time for which the old and the next profile both run. */
  #overlapMs
  #now
  #execArgv

  /** @param {Plan} plan */
  constructor(plan) {
    const { process } = plan.realm
    this.#plan = plan
    this.#now = process.hrtime.bigint
    this.#overlapMs = Math.ceil(plan.intervalUs / 800) + 1
    this.#execArgv = process.execArgv.join(' ')
  }

  start() {
    this.#end = this.#begin()
  }

  /** Takes a window if one is due. @returns {boolean} whether to continue */
  tick() {
    if (this.#answer === GIVE_UP) return false
    const from = this.#now()
    if (from < this.#due || this.#rotation !== null) return true
    if (!this.#plan.addon.cpuProfNeedsWindow()) return true
    const end = this.#end
    if (this.#answer === CONTINUE) {
      // V8 processes a sample when the next is due, so both profiles run for a while.
      this.#end = this.#begin()
      this.#rotation = { end, from, to: this.#now() }
      setTimeout(() => guarded(() => this.#endRotation()), this.#overlapMs).unref()
    } else {
      this.#answer = CONTINUE
      this.#since = from
      end?.()
      this.#end = this.#begin()
    }
    return true
  }

  /** Hands over the old profile of the rotation that has begun. */
  #endRotation() {
    if (this.#rotation === null) return
    const { end, from, to } = this.#rotation
    this.#since = this.#now()
    try {
      end?.()
    } finally {
      this.#rotation = null
    }
    this.#discardLogs()
    const now = this.#now()
    const cost = to - from + now - this.#since
    if (!this.#plan.isFixed) this.#due = now + cost * BigInt(1 / MAX_SHARE)
  }

  stop() {
    try {
      this.#endRotation()
      this.#since = this.#now()
      this.#end?.()
    } finally {
      this.#end = null
      this.#discardLogs()
      // Where a session that has enabled the Profiler domain ends, V8 stops to count calls for all others.
      if (!this.#hasCoverage()) for (const session of this.#all) apply(disconnect, session, [])
    }
  }

  /** Frees the last 1000 logged values, which the inspector keeps while a session exists. */
  #discardLogs() {
    // The command would call the program's toJSON.
    if ('toJSON' in this.#plan.realm.Object.prototype) return
    const [session] = this.#all
    if (session !== undefined) apply(post, session, ['Runtime.discardConsoleEntries'])
  }

  #begin() {
    return (this.#mayShare() && this.#beginShared()) || this.#beginAlone()
  }

  /**
   * Returns whether `console.profile()` can be used. It starts a profile in every session that has
   * enabled the Profiler domain. Node's sessions for coverage and `--cpu-prof` would print to stderr
   * that they did not expect it, and a debugger would collect the profile.
   */
  #mayShare() {
    return !this.#hasCoverage() && inspector.url() === undefined && !this.#hasFlag('--cpu-prof')
  }

  /** Returns whether Node counts the calls of functions. */
  #hasCoverage() {
    return (
      process.env.NODE_V8_COVERAGE !== undefined || this.#hasFlag('--experimental-test-coverage')
    )
  }

  /** @param {string} flag */
  #hasFlag(flag) {
    return `${this.#execArgv} ${process.env.NODE_OPTIONS}`.includes(flag)
  }

  /**
   * Starts a profile in the shared session, or returns null if the session did not start one. All
   * profiles of a session share one V8 profiler, so one more takes microseconds.
   */
  #beginShared() {
    this.#shared ??= this.#connect((method, { params }) => {
      if (method === 'Profiler.consoleProfileStarted') this.#titles.add(params.title)
      if (method !== 'Profiler.consoleProfileFinished' || !this.#titles.delete(params.title)) return
      if (params.title.startsWith('cpu-prof ')) guarded(() => this.#handOver(params.profile))
    })
    const title = `cpu-prof ${++this.#count}`
    apply(profile, console, [title])
    if (!this.#titles.has(title)) return null
    // If the program ended the profile before, the window is handed over already.
    return () => apply(profileEnd, console, [title])
  }

  /** Starts a profile in its own session. Each session has a V8 profiler, whose start walks the heap. */
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
    // An own method, since programs patch EventEmitter.prototype.
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
    const { from = 0n, to = 0n } = this.#rotation ?? {}
    const { addon } = this.#plan
    const answer = addon.cpuProfWindow(asText(profile), us(this.#since), us(from), us(to))
    if (this.#answer !== GIVE_UP) this.#answer = answer
  }
}

/** Returns microseconds. @param {bigint} ns */
function us(ns) {
  return number(ns / 1000n)
}

/** Sends a command, and returns its result, which arrives synchronously. @param {Session} session @param {string} method @param {object} [params] */
function send(session, method, params) {
  /** @type {any[]} */
  let answer = []
  apply(post, session, [method, params, (/** @type {any[]} */ ...args) => (answer = args)])
  if (answer[0]) throw new Error(`${method}: ${answer[0].message}`)
  return answer[1]
}

/** @param {any} profile */
function asText(profile) {
  // JSON.stringify would call the program's toJSON.
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
