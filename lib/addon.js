'use strict'

// Loads the native addons, once: one records, one works on recordings.

// A preload needs how they are found, so it is in preload.js.
const {
  find,
  isMarked,
  refuseOtherRuntimes,
  targetName,
  UNUSABLE,
  VERSION,
} = require('./preload.js')

/** @typedef {import('./addon-types.d.ts').Recorder & import('./thread.js').Kept} Recorder */
/** @typedef {import('./addon-types.d.ts').Tools} Tools */

/** The addons by name, or why they cannot be used. @type {Record<string, { addon?: any, error?: unknown }>} */
const known = /** @type {any} */ ({ __proto__: null })

/** Returns the addon that records. Node loads the file on the first call only. @returns {Recorder} */
const load = () => once('cpu-prof')

/** Returns the addon that records if this copy of the package has loaded it. @returns {Recorder | undefined} */
const loaded = () => known['cpu-prof']?.addon

/** Returns the addon that works on recordings, which recorded programs never load. @returns {Tools} */
const loadTools = () => once('cpu-prof-tools')

/** Returns the addon that works on recordings if `loadTools` has loaded it. @returns {Tools | undefined} */
const loadedTools = () => known['cpu-prof-tools']?.addon

/** Finds an addon on the first call. @param {string} name */
function once(name) {
  known[name] ??= attempt(name)
  const { addon, error } = known[name]
  if (addon === undefined) throw error
  return addon
}

/** @param {string} name @returns {{ addon?: any, error?: unknown }} */
function attempt(name) {
  try {
    return { addon: find(name) }
  } catch (error) {
    return { error }
  }
}

module.exports = {
  isMarked,
  load,
  loaded,
  loadTools,
  loadedTools,
  targetName,
  UNUSABLE,
  VERSION,
  refuseOtherRuntimes,
}
