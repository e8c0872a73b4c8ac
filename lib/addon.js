'use strict'

// Finds and loads the native addon.

/** Platforms with a binary: `process.platform`-`process.arch` and the package name's ending. @type {Record<string, string>} */
const PLATFORMS = { 'linux-x64': 'linux-x64-gnu' }

/**
 * Returns the addon: the one built in this checkout, or else the platform's package. Node loads the
 * file on the first call only.
 * @returns {any}
 */
function load() {
  const platform = `${process.platform}-${process.arch}`
  const name = PLATFORMS[platform]
  if (name === undefined) throw new Error(`there is no binary for ${platform} yet`)
  try {
    return require(`../cpu-prof.${name}.node`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return require(`@org/cpu-prof-${name}`)
  }
}

module.exports = { load }
