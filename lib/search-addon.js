'use strict'

// Searches for an addon as `require()` does, and says why it cannot be used.

const path = require('node:path')

/**
 * @typedef {object} Owner a package that has an addon, and a package for each target
 * @property {string} folder
 * @property {{ name: string, version: string, optionalDependencies?: object }} manifest
 * @property {NodeJS.Require} require of a file in the folder
 *
 * @typedef {object} Wanted
 * @property {string} name of the addon
 * @property {string} target the system
 * @property {string} version of the packages
 * @property {string} code of the error
 * @property {Owner} [owner] default: this package
 */

/** @type {Owner} */
const OWN = {
  folder: path.join(__dirname, '..'),
  get manifest() {
    return require('../package.json')
  },
  require,
}

/**
 * Returns an addon built in this checkout, or else the one of the target's package. Throws an error for
 * the user if neither can be used.
 * @param {Wanted} wanted @returns {any}
 */
function search({ name, target, version, code, owner = OWN }) {
  /** @param {string} why */
  const unusable = (why) => Object.assign(new Error(`cpu-prof: ${why}`), { code })
  let addon
  try {
    addon = firstOf(name, target, owner, owner.require)
  } catch (error) {
    const why = require('./addon/missing.js').explain(name, target, owner, error)
    throw why === undefined ? error : unusable(why)
  }
  const built = addon.cpuProfVersion?.()
  if (built === version) return addon
  throw unusable(require('./addon/missing.js').explainVersion(target, version, owner, built))
}

/** Returns the path of an addon; undefined if there is none. @param {Wanted} wanted @returns {string | undefined} */
function fileOf({ name, target, owner = OWN }) {
  try {
    return firstOf(name, target, owner, owner.require.resolve)
  } catch {
    return undefined
  }
}

/**
 * Applies `get` to the file of this checkout, or else to that of the target's package. By another name, no
 * bundler takes `require()` for one that it can follow.
 * @template T @param {string} name @param {string} target @param {Owner} owner @param {(file: string) => T} get
 */
function firstOf(name, target, { folder, manifest }, get) {
  const file = `${name}.${target}.node`
  try {
    return get(path.join(folder, file))
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`${manifest.name}-${target}/${file}`)
  }
}

module.exports = { OWN, fileOf, search }
