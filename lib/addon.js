'use strict'

// Finds and loads the native addons: the one that records, and the one that reads recordings back.

/** Platforms with a binary: `process.platform`-`process.arch` and the package name's ending. @type {Record<string, string>} */
const PLATFORMS = { 'linux-x64': 'linux-x64-gnu' }

/** Returns the addon that records. Node loads the file on the first call only. @returns {any} */
const load = () => find('cpu-prof', require)

/** Returns the addon that works on recordings, which recorded programs never load. @returns {any} */
const loadTools = () => find('cpu-prof-tools', require)

/**
 * Applies `get` to an addon built in this checkout, or else to the one of the platform's package.
 * @template T @param {string} addon @param {(file: string) => T} get
 */
function find(addon, get) {
  const platform = `${process.platform}-${process.arch}`
  const name = PLATFORMS[platform]
  if (name === undefined) throw new Error(`there is no binary for ${platform} yet`)
  const file = `${addon}.${name}.node`
  try {
    return get(`../${file}`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`@org/cpu-prof-${name}/${file}`)
  }
}

module.exports = { load, loadTools }
