'use strict'

// Checks the arguments of the package's functions.

const { OutOfRange, WrongUsage } = require('./errors/wrong-usage.js')

/**
 * What a value must be, in words and as a test. Words that begin with 'a number' name a range: a number
 * outside the range is a RangeError.
 * @typedef {[allowed: string, isAllowed: (value: any) => boolean]} Kind
 */

/** Throws unless a value is of a kind. @param {string} name @param {unknown} value @param {Kind} kind */
function check(name, value, [allowed, isAllowed]) {
  if (isAllowed(value)) return
  const isOutOfRange = typeof value === 'number' && allowed.startsWith('a number')
  const ErrorType = isOutOfRange ? OutOfRange : WrongUsage
  throw new ErrorType(`cpu-prof: ${name} must be ${allowed}, not ${describe(value)}`)
}

/**
 * Returns an object's own values alone: a program's additions to Object.prototype are no options.
 * @param {string} name @param {unknown} value @returns {Record<string, any>}
 */
function ownValues(name, value) {
  check(name, value, ['an object', isObject])
  return { __proto__: null, .../** @type {object} */ (value) }
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the options that are given, and throws if one is unknown or wrong.
 * @param {unknown} options @param {Record<string, Kind>} known @param {string} owner the function they
 *   belong to
 */
function checkOptions(options, known, owner) {
  const given = ownValues('options', options)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) {
      delete given[name]
    } else if (!Object.hasOwn(known, name)) {
      const all = Object.keys(known).join(', ')
      throw new WrongUsage(`cpu-prof: ${name} is not an option of ${owner}; its options are ${all}`)
    } else {
      check(name, value, known[name])
    }
  }
  return given
}

/** Returns a phrase for a value that is wrong. @param {unknown} value */
function describe(value) {
  if (value === null || value === undefined || typeof value === 'number') return String(value)
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

module.exports = { check, checkOptions, describe, isObject, ownValues, WrongUsage }
