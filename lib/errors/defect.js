'use strict'

// Recognizes the errors that are defects of this package.

const { isWrongUsage } = require('./wrong-usage.js')

/** The classes of errors that JavaScript throws by itself, and this package only for a wrong usage. */
const OWN_OF_JAVASCRIPT = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError]
/** What begins the messages of all errors that the addons return on purpose. */
const ON_PURPOSE = 'cpu-prof: '
/** What napi calls its errors, such as `GenericFailure` for a panic; Node and the system use no such codes. */
const CODE_OF_NAPI = /^[A-Z][a-z]+([A-Z][a-z]+)*$/

/**
 * Returns whether an error is of a defect of this package: one that is never thrown on purpose. Errors of a
 * wrong usage, of files, of the network and of other packages are none.
 * @param {unknown} error
 */
function isDefect(error) {
  if (isWrongUsage(error)) return false
  if (!(error instanceof Error)) return true
  const { code } = /** @type {NodeJS.ErrnoException} */ (error)
  return (
    isOfNapi(error) ||
    code === 'ERR_ASSERTION' ||
    OWN_OF_JAVASCRIPT.some((ofJavaScript) => error instanceof ofJavaScript)
  )
}

/** @param {unknown} error @returns {error is NodeJS.ErrnoException} */
function isOfNapi(error) {
  return error instanceof Error && CODE_OF_NAPI.test(String(/** @type {any} */ (error).code))
}

/**
 * Returns what a caller gets in place of an error that a call of an addon has thrown: for what the addon
 * returned on purpose, an error without napi's code.
 * @param {unknown} error
 */
function errorOfCall(error) {
  if (!isOfNapi(error)) return error
  const { message, code } = error
  if (message.startsWith(ON_PURPOSE)) return new Error(message)
  // An error of napi has no stack where the work was done on another thread.
  return Object.assign(new Error(`${ON_PURPOSE}an internal error: ${message}`), { code })
}

module.exports = { isDefect, errorOfCall }
