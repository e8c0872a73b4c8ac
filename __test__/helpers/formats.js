'use strict'

// The formats that `cpu-prof convert` writes, as the tools list them.

const { loadTools } = require('../../lib/addon.js')

/** @type {{ endings: string[] }[]} */
const formats = JSON.parse(loadTools().cpuProfFormats())

/** The first ending of each format, such as `.cpuprofile`, but for that of a merge. */
const CONVERTED = formats.map(({ endings }) => endings[0]).filter((ending) => ending !== '.json')

module.exports = { CONVERTED }
