'use strict'

// The words about an error: what happened, and what to do if it is a defect of this package.

const { inspect } = require('node:util')
const { isDefect } = require('../../lib/errors/defect.js')

/** The environment variable with which an error has its stack. */
const DEBUG = 'CPU_PROF_DEBUG'

/** Returns an error's message without its stack. @param {unknown} error */
function messageOf(error) {
  if (isDefect(error)) return `${summaryOf(error)}; ${adviceOn(process.env)}`
  return plainMessage(error)
}

/** Returns what a defect is, with the class of its error where that means something. @param {unknown} error */
function summaryOf(error) {
  const hasClass = error instanceof Error && error.name !== 'Error'
  return hasClass ? String(error) : plainMessage(error)
}

/** @param {unknown} error */
function plainMessage(error) {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^cpu-prof: /, '')
}

/** Returns what to do about a defect. @param {NodeJS.ProcessEnv} env */
function adviceOn(env) {
  const what = 'this is a defect of cpu-prof, and no mistake of yours'
  if (env[DEBUG]) return `${what}: please report this output ${reportPlace()}`
  return `${what}: run the command again with ${DEBUG}=1, which also prints the stack, and please report that output ${reportPlace()}`
}

/** Returns where defects are reported. */
function reportPlace() {
  const { name, bugs } = /** @type {any} */ (require('../../package.json'))
  return bugs?.url === undefined ? `to the maintainers of ${name}` : `on ${bugs.url}`
}

/**
 * Returns an error with its stack and its causes, a line each, where the user wants to see them.
 * @param {unknown} error @returns {string[]}
 */
function stackOf(error) {
  return process.env[DEBUG] ? inspect(error).split('\n') : []
}

module.exports = { messageOf, stackOf }
