'use strict'

// Sends profiles to Pyroscope or to a collector of OpenTelemetry. Their contents are not known here.

const { parsed, resultOf } = require('@org/cpu-prof/own-packages').jsonResult
const { loadFleet } = require('../addon.js')
const { opened, variablesOf } = require('./calls.js')

/** The beginning of the names of all variables about the server. */
const PREFIX = 'CPU_PROF_PUSH'

/**
 * @typedef {object} SenderOptions
 * @property {'pyroscope' | 'otlp'} [kind] by the path without: `…/profiles` is that of a collector
 * @property {Record<string, string>} [headers] of each request
 * @property {string} [certificates] PEM: the authorities that are trusted instead of Mozilla's list
 * @property {number} [capacity] the most payloads that wait
 * @property {{ firstMs?: number, mostMs?: number, giveUpMs?: number }} [retry] the first and the longest pause
 *   between attempts, and the time after which a payload is dropped
 * @property {number} [timeoutMs] the whole time of one request
 *
 * @typedef {object} ProfileMeta
 * @property {string} name of the service
 * @property {Record<string, string>} labels
 * @property {number} fromMs Unix time
 * @property {number} untilMs Unix time
 * @property {number} sampleRate samples in a second
 *
 * @typedef {object} SenderState counts of payloads
 * @property {number} sent
 * @property {number} sentBytes
 * @property {number} waiting the one that is being sent among them
 * @property {number} dropped without room, or given up
 * @property {number} refused by the server, for ever
 * @property {string} [failure] why the last payload that failed did: a sentence for the user, without a secret
 *
 * @typedef {object} Sender
 * @property {'pyroscope' | 'otlp'} kind
 * @property {(meta: ProfileMeta, body: Buffer, options?: { waits?: boolean }) => Promise<boolean>} offer tells
 *   whether the payload was taken. Without room it waits until there is some or the server was given up, or
 *   drops the oldest payload.
 * @property {() => SenderState} state
 * @property {(timeoutMs: number) => Promise<SenderState>} finish sends what waits until the time is over; the
 *   rest is dropped
 */

/**
 * Opens a sender for a server. Throws for an address that is none, and for one that would give secrets away.
 * @param {string | undefined} url without: that of the environment
 * @param {SenderOptions} [options] take precedence over the environment
 * @param {NodeJS.ProcessEnv} [env] @returns {Sender}
 */
function openSender(url, options = {}, env = process.env) {
  const addon = loadFleet()
  const open = () =>
    addon.cpuProfPushOpen(url ?? null, JSON.stringify(options), serverVariables(env))
  const handle = opened(open)
  // Offers run on threads of a pool, which would change their order.
  let last = /** @type {Promise<unknown>} */ (Promise.resolve())
  return {
    kind: addon.cpuProfPushKind(handle),
    offer: (meta, body, { waits = false } = {}) => {
      const call = () => addon.cpuProfPushOffer(handle, meta, body, waits)
      const offered = last.then(() => resultOf(call))
      last = offered.catch(() => {})
      return offered
    },
    state: () => parsed(addon.cpuProfPushState(handle)),
    finish: (timeoutMs) => resultOf(() => addon.cpuProfPushFinish(handle, timeoutMs)),
  }
}

/** Returns the variables about the server. @param {NodeJS.ProcessEnv} env */
const serverVariables = (env) => variablesOf(env, PREFIX)

module.exports = { openSender, serverVariables }
