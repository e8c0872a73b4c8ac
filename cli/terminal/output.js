'use strict'

// Prints status lines to stderr and results to stdout.

const { isDefect } = require('../../lib/errors/defect.js')
const { isWrongUsage } = require('../../lib/errors/wrong-usage.js')
const { FAILED, WRONG_USAGE } = require('../exit-codes.js')
const { messageOf, stackOf } = require('./error-text.js')
const { printable } = require('./format.js')

/** The addon knows stdout by this path. */
const STDOUT = '/dev/stdout'

/** Prints one line to stderr. @param {string} text */
function printStatus(text) {
  // File names can hold line breaks and control sequences.
  writeStderr(`cpu-prof: ${printable(text)}\n`)
}

/** @param {string} text */
function writeStderr(text) {
  // A closed stderr gives an event or an exception, depending on what kind of file it is.
  try {
    const { stderr } = process
    if (stderr.listenerCount('error') === 0) stderr.on('error', () => {})
    stderr.write(text)
  } catch {}
}

/** Returns whether an output is stdout. @param {string} output */
function isStdout(output) {
  return output === '-' || output === STDOUT
}

/** Prints the paths of files that were written, one a line. @param {string[]} files */
function printPaths(files) {
  printResult(files.map((file) => `${printable(file)}\n`).join(''))
}

/** @param {string} text */
function printResult(text) {
  try {
    const { stdout } = process
    if (stdout.listenerCount('error') === 0) stdout.on('error', onStdoutError)
    stdout.write(text)
  } catch (error) {
    onStdoutError(/** @type {NodeJS.ErrnoException} */ (error))
  }
}

/** @param {NodeJS.ErrnoException} error */
function onStdoutError(error) {
  // The reader has read enough, as in `| head`.
  if (error.code === 'EPIPE') return
  failWith(error, { before: 'the result cannot be printed: ' })
}

/** Prints why nothing could be done, and sets the exit code. @param {string} text */
function fail(text, exitCode = FAILED) {
  printStatus(text)
  process.exitCode = exitCode
}

/**
 * Prints why nothing could be done, and sets the exit code: that of wrong usage, that of a failure, or the one
 * that is given. A defect is a failure whatever is given.
 * @param {unknown} error @param {{ exitCode?: number } & Around} [options]
 */
function failWith(error, { exitCode, ...around } = {}) {
  printError(error, around)
  const usual = isWrongUsage(error) ? WRONG_USAGE : FAILED
  process.exitCode = isDefect(error) ? FAILED : (exitCode ?? usual)
}

/** Ends the process for an error that nobody has caught. @param {unknown} error */
function endWith(error) {
  failWith(error)
  process.exit()
}

/** @typedef {{ before?: string, after?: string }} Around what stands beside the message of an error */

/** Prints an error. @param {unknown} error @param {Around} [around] */
function printError(error, { before = '', after = '' } = {}) {
  printStatus(`${before}${messageOf(error)}${after}`)
  for (const line of stackOf(error)) writeStderr(`${printable(line)}\n`)
}

/**
 * Prints the problems that merge() and report() found in their inputs.
 * @param {{ repaired: string[], failed: { file: string, reason: string }[], notes: string[] }} result
 */
function printProblems({ repaired, failed, notes }) {
  for (const { file, reason } of failed) printStatus(`left out ${file}: ${reason}`)
  const what = 'it was cut off, or damaged events were left out (cpu-prof check lists them)'
  for (const file of repaired) printStatus(`repaired ${file}: ${what}`)
  for (const note of notes) printStatus(note)
}

module.exports = {
  STDOUT,
  isStdout,
  printStatus,
  writeStderr,
  printPaths,
  printResult,
  fail,
  failWith,
  endWith,
  printError,
  printProblems,
}
