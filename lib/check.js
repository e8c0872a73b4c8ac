'use strict'

// Checks the arguments of the package's functions.

/**
 * Throws unless a value has the right type.
 * @param {boolean} isValid @param {string} name @param {string} allowed @param {unknown} value
 */
function assertArgument(isValid, name, allowed, value) {
  if (!isValid) throw new TypeError(message(name, allowed, value))
}

/** Throws unless a value is a boolean. @param {string} name @param {unknown} value */
function checkBoolean(name, value) {
  assertArgument(typeof value === 'boolean', name, 'a boolean', value)
}

/**
 * Throws unless a value is a number from 0 on.
 * @param {string} name @param {string} allowed @param {unknown} value
 */
function checkNotNegative(name, allowed, value) {
  assertArgument(typeof value === 'number', name, allowed, value)
  if (!(Number(value) >= 0)) throw new RangeError(message(name, allowed, value))
}

/**
 * Throws unless a value is a number.
 * @param {string} name @param {string} allowed @param {unknown} value
 */
function checkNumber(name, allowed, value) {
  assertArgument(typeof value === 'number', name, allowed, value)
  if (Number.isNaN(value)) throw new RangeError(message(name, allowed, value))
}

/** Throws unless a value is a non-empty string. @param {string} name @param {unknown} value */
function checkPath(name, value) {
  assertArgument(isPath(value), name, "a file's path", value)
}

/** @param {unknown} value @returns {value is string} */
function isPath(value) {
  return typeof value === 'string' && value !== ''
}

/**
 * Returns an object's own values alone: a program's additions to Object.prototype are no options.
 * @param {string} name @param {unknown} value @returns {Record<string, any>}
 */
function ownValues(name, value) {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  assertArgument(isObject, name, 'an object', value)
  return { __proto__: null, .../** @type {object} */ (value) }
}

/**
 * Returns the options that are given, and throws if one is unknown.
 * @param {unknown} options @param {string[]} known @param {string} owner the function they belong to
 * @returns {Record<string, any>}
 */
function checkOptions(options, known, owner) {
  const given = ownValues('options', options)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) {
      delete given[name]
    } else if (!known.includes(name)) {
      const all = known.join(', ')
      throw new TypeError(`cpu-prof: ${name} is not an option of ${owner}; its options are ${all}`)
    }
  }
  return given
}

/** @param {string} name @param {string} allowed @param {unknown} value */
function message(name, allowed, value) {
  return `cpu-prof: ${name} must be ${allowed}, not ${describe(value)}`
}

/** Returns a phrase for a value that is wrong. @param {unknown} value */
function describe(value) {
  if (value === null || value === undefined || typeof value === 'number') return String(value)
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

module.exports = {
  assertArgument,
  checkBoolean,
  checkNotNegative,
  checkNumber,
  checkPath,
  checkOptions,
  describe,
  isPath,
  ownValues,
}
