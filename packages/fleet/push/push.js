'use strict'

// `cpu-prof push`: sends recordings to a server of profiles.

const { setTimeout: delay } = require('node:timers/promises')
const { FAILED, WRONG_USAGE } = require('@org/cpu-prof/own-packages').exitCodes
const { jsonText } = require('@org/cpu-prof/own-packages').format
const { formatBytes, formatCount } = require('@org/cpu-prof/own-packages').units
const { withInputs } = require('@org/cpu-prof/own-packages').input
const { fail, failWith, printProblems, printResult, printStatus } =
  require('@org/cpu-prof/own-packages').output
const { Slices } = require('./slices.js')

/** Time that the last profiles have to be sent, milliseconds. */
const FINISH_MS = 150_000
/** The same after the user has ended the command. */
const STOPPED_MS = 5000

/**
 * @typedef {object} OwnOptions
 * @property {string} [to]
 * @property {'pyroscope' | 'otlp'} [as]
 * @property {string} [service]
 * @property {Record<string, string>} [tag]
 * @property {number} every milliseconds
 * @property {boolean} [follow]
 * @property {boolean} [json]
 * @property {boolean} [quiet]
 */

/** @param {string[]} inputs @param {OwnOptions & import('@org/cpu-prof').Selection} options */
async function push(inputs, options) {
  const { to, as, service, tag = {}, every, follow = false, json, quiet, ...filters } = options
  let sender
  try {
    const { openSender } = require('../base/sender.js')
    sender = openSender(to, { kind: as })
  } catch (error) {
    return failWith(error, { exitCode: WRONG_USAGE })
  }
  const stop = new AbortController()
  if (follow) endWithSignals(stop)
  let hasFailed = false
  try {
    await withInputs(inputs, async (paths) => {
      const slice = { service, tags: tag, sliceMs: every, follows: follow }
      const slices = new Slices(paths, { kind: sender.kind, ...slice }, filters)
      await send(slices, sender, { stop: stop.signal, isLive: follow })
    })
  } catch (error) {
    hasFailed = true
    failWith(error)
  }
  const state = await sender.finish(stop.signal.aborted ? STOPPED_MS : FINISH_MS)
  tell(state, { json, quiet, hasFailed })
}

/**
 * Sends slices until there are no more.
 * @param {Slices} slices @param {import('../base/sender.js').Sender} sender
 * @param {{ stop: AbortSignal, isLive: boolean }} options `isLive`: the newest slices count, so that the
 *   oldest are dropped where the server is slower than the recordings
 */
async function send(slices, sender, { stop, isLive }) {
  /** @type {string | undefined} */
  let told
  while (!stop.aborted) {
    const { profiles, waitMs, isEnd, news } = await slices.next()
    printProblems({ repaired: [], ...news })
    if (isEnd) return
    for (const { meta, body } of profiles) {
      if (stop.aborted) return
      // A server that is away would keep the user for minutes with each profile.
      if (!(await sender.offer(meta, body, { waits: !isLive })) && !isLive) return
    }
    const { failure } = sender.state()
    if (isLive && failure !== undefined && failure !== told) printStatus(failure)
    told = failure
    if (waitMs !== undefined) await delay(waitMs, undefined, { signal: stop }).catch(() => {})
  }
}

/** Lets Ctrl+C end the command after what waits is sent. @param {AbortController} stop */
function endWithSignals(stop) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
}

/** @param {import('../base/sender.js').SenderState} state @param {{ json?: boolean, quiet?: boolean, hasFailed: boolean }} options `hasFailed`: the reason is told */
function tell(state, { json, quiet, hasFailed }) {
  const { sent, sentBytes, dropped, refused, failure } = state
  if (json) printResult(jsonText({ sent, sentBytes, dropped, refused, failure }))
  const lost = [
    dropped > 0 && `${formatCount(dropped, 'profile was', 'profiles were')} dropped`,
    refused > 0 && `${formatCount(refused, 'profile was', 'profiles were')} refused`,
  ].filter(Boolean)
  if (lost.length > 0) {
    fail(`${lost.join(', ')}${failure === undefined ? '' : `: ${failure}`}`, FAILED)
  }
  if (json || quiet) return
  if (sent === 0 && lost.length === 0) {
    return hasFailed ? undefined : printStatus('nothing was sent: nothing was recorded')
  }
  printResult(`sent ${formatCount(sent, 'profile', 'profiles')} (${formatBytes(sentBytes)})\n`)
}

module.exports = { push }
