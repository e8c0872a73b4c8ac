'use strict'

// The tools of the server, in the order in which agents see them.

/**
 * @typedef {object} Call what a tool may use
 * @property {import('../overview.js').Root} root
 * @property {import('../recording/recorder.js').Recorder} recorder
 * @property {AbortSignal} signal aborts if the agent no longer wants the answer
 * @property {(progress: number, message: string) => void} tell reports progress
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} title
 * @property {string} description for agents
 * @property {boolean} writes whether the tool does more than reading
 * @property {(z: any) => Record<string, any>} input schemas of the arguments, without `maxTokens`
 * @property {(args: Record<string, any>, call: Call) => Promise<import('../answer.js').Answer>} answer
 */

/** @type {Tool[]} */
module.exports = [
  require('./record.js'),
  require('./runs.js'),
  require('./hotspots.js'),
  require('./function.js'),
  require('./code.js'),
  require('./compare.js'),
  require('./stalls.js'),
]
