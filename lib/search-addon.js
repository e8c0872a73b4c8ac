'use strict'

// Searches for an addon as `require()` does, and says why it cannot be used.

/**
 * Returns an addon built in this checkout, or else the one of the target's package. Throws an error for
 * the user if neither can be used.
 * @param {{ name: string, target: string, version: string, code: string }} wanted the addon's name, the system,
 *   the version of the package, and the code of the error @returns {any}
 */
function search({ name, target, version, code }) {
  /** @param {string} why */
  const unusable = (why) => Object.assign(new Error(`cpu-prof: ${why}`), { code })
  let addon
  try {
    addon = firstOf(`${name}.${target}.node`, target, require)
  } catch (error) {
    const why = require('./addon/missing.js').explain(name, target, error)
    throw why === undefined ? error : unusable(why)
  }
  const built = addon.cpuProfVersion?.()
  if (built === version) return addon
  throw unusable(require('./addon/missing.js').explainVersion(target, version, built))
}

/**
 * Applies `get` to the file of this checkout, or else to that of the target's package. By another name, no
 * bundler takes `require()` for one that it can follow.
 * @param {string} file @param {string} target @param {NodeJS.Require} get
 */
function firstOf(file, target, get) {
  try {
    return get(`../${file}`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`@org/cpu-prof-${target}/${file}`)
  }
}

module.exports = { search }
