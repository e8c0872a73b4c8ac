'use strict'

// The profiles of recordings, one slice of time after the other.

const { loadFleet } = require('../addon.js')
const { callAddon } = require('@org/cpu-prof/own-packages').jsonResult
const { selectionOf } = require('@org/cpu-prof/own-packages').offline
const { opened } = require('../base/calls.js')
const { serverVariables } = require('../base/sender.js')

/**
 * @typedef {object} Profile
 * @property {import('../base/sender.js').ProfileMeta} meta
 * @property {Buffer} body
 *
 * @typedef {object} Step
 * @property {Profile[]} profiles of the next slice
 * @property {number} [waitMs] until the next slice is there
 * @property {boolean} isEnd
 * @property {{ notes: string[], failed: { file: string, reason: string }[] }} news
 *
 * @typedef {object} SliceOptions
 * @property {'pyroscope' | 'otlp'} kind of the server
 * @property {string} [service] name; default: that of the environment, or of the process
 * @property {Record<string, string>} tags beside those of the environment
 * @property {number} sliceMs
 * @property {boolean} follows
 */

class Slices {
  /** @param {string[]} inputs @param {SliceOptions} options @param {import('@org/cpu-prof').Selection} filters */
  constructor(inputs, options, filters) {
    this.addon = loadFleet()
    const variables = serverVariables(process.env)
    const selection = selectionOf(filters)
    this.state = opened(() => this.addon.cpuProfPushReader(inputs, options, variables, selection))
  }

  /** Reads on. @returns {Promise<Step>} */
  async next() {
    const step = await callAddon(() => this.addon.cpuProfPushNext(this.state))
    const { payloads, waitMs, isEnd, news } = step
    return { profiles: payloads, waitMs, isEnd, news }
  }
}

module.exports = { Slices }
