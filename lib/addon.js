'use strict'

// Finds and loads the native addon.

/** Platforms with a binary: `process.platform`-`process.arch` and the package name's ending. @type {Record<string, string>} */
const PLATFORMS = { 'linux-x64': 'linux-x64-gnu' }

/** Returns the addon. Node loads the file on the first call only. @returns {any} */
function load() {
  return find(require)
}

/**
 * Applies `get` to the addon built in this checkout, or else to the platform's package.
 * @template T @param {(file: string) => T} get
 */
function find(get) {
  const platform = `${process.platform}-${process.arch}`
  const name = PLATFORMS[platform]
  if (name === undefined) throw new Error(`there is no binary for ${platform} yet`)
  try {
    return get(`../cpu-prof.${name}.node`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`@org/cpu-prof-${name}`)
  }
}

module.exports = { load }
