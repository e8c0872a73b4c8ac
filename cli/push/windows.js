'use strict'

// The profiles of recordings, one window of time after the other.

const os = require('node:os')
const { loadTools } = require('../../lib/addon.js')
const { callAddon, selectionOf } = require('../../lib/offline.js')

/**
 * @typedef {object} Facts
 * @property {string} process name
 * @property {number} pid 0 if unknown
 * @property {number} fromMs Unix time
 * @property {number} untilMs Unix time
 * @property {number} sampleRate samples in a second
 *
 * @typedef {object} Profile
 * @property {import('../fleet/sender.js').ProfileMeta} meta
 * @property {Buffer} body
 *
 * @typedef {object} Step
 * @property {Profile[]} profiles of the next window
 * @property {number} [waitMs] until the next window is there
 * @property {boolean} isEnd
 * @property {{ notes: string[], failed: { file: string, reason: string }[] }} news
 *
 * @typedef {object} WindowOptions
 * @property {'pyroscope' | 'otlp'} format
 * @property {string} [service] name; default: that of the process
 * @property {Record<string, string>} tags
 * @property {number} windowMs
 * @property {boolean} follows
 */

class Windows {
  /** @param {string[]} inputs @param {WindowOptions} options @param {import('../../index.js').Selection} filters */
  constructor(inputs, { format, service, tags, windowMs, follows }, filters) {
    this.addon = loadTools()
    this.service = service
    this.tags = { host: os.hostname(), ...tags }
    const { host, ...others } = this.tags
    const named = service === undefined ? [] : [['service.name', service]]
    const attributes = [...named, ['host.name', host], ...Object.entries(others)]
    const options = JSON.stringify({ format, attributes, windowMs, follows })
    this.state = this.addon.cpuProfPushReader(inputs, options, selectionOf(filters))
  }

  /** Reads on. @returns {Promise<Step>} */
  async next() {
    /** @type {any} */
    const step = await callAddon(() => this.addon.cpuProfPushNext(this.state))
    const { payloads, waitMs, isEnd, news } = step
    const profiles = payloads.map((/** @type {{ facts: string, body: Buffer }} */ payload) => ({
      meta: this.#metaOf(JSON.parse(payload.facts)),
      body: payload.body,
    }))
    return { profiles, waitMs, isEnd, news: JSON.parse(news) }
  }

  /** Returns what the server gets to know. A pid would make a series of its own. @param {Facts} facts */
  #metaOf({ process, fromMs, untilMs, sampleRate }) {
    const name = this.service ?? process
    const labels = this.service === undefined ? this.tags : { process, ...this.tags }
    return { name, labels, fromMs, untilMs, sampleRate }
  }
}

module.exports = { Windows }
