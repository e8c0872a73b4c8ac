'use strict'

// `cpu-prof run`: records every Node process and thread under a command.

const fs = require('node:fs')
const { WRONG_USAGE, CANNOT_EXECUTE, NOT_FOUND } = require('../exit-codes.js')
const { runToEnd, endAs } = require('../run/child.js')
const { planRun } = require('../run/plan.js')
const { printStatus, fail, messageOf } = require('../terminal/output.js')

/** @typedef {import('../run/plan.js').Options} Options */

/** @param {string[]} command @param {Options & Record<string, any>} options */
async function run(command, options) {
  let plan
  try {
    plan = planRun(options, process.env)
  } catch (error) {
    return fail(messageOf(error), WRONG_USAGE)
  }
  let ending
  try {
    ending = await runToEnd(command, plan.env)
  } catch (error) {
    plan.folder.removeIfEmpty()
    return failToStart(command[0], /** @type {NodeJS.ErrnoException} */ (error))
  }
  await summarize(command[0], plan, ending, options)
  plan.folder.removeIfEmpty()
  endAs(ending)
}

/**
 * Says what was recorded. Never throws, because the exit code is the command's.
 * @param {string} file the command's program @param {ReturnType<typeof planRun>} plan
 * @param {import('../run/child.js').Ending} ending @param {Options} options
 */
async function summarize(file, { dir, output, folder, isNested }, ending, options) {
  const recordings = folder.recordings()
  const { recordingsDir } = folder
  if (recordings.length === 0) {
    const why = folder.isGone() ? `the recordings' folder is gone: ${dir}` : whyNothing(file)
    if (!options.quiet) printStatus(why)
    return
  }
  if (isNested) return
  try {
    const { summarizeRun } = require('../run/summary.js')
    await summarizeRun(recordings, { ...options, dir, recordingsDir, output, ending })
  } catch (error) {
    // For example, the command removed this package.
    printStatus(`no trace: ${messageOf(error)}; the recordings are in ${recordingsDir}`)
  }
}

/** @param {string} file @param {NodeJS.ErrnoException} error */
function failToStart(file, { code, message }) {
  if (code === 'ENOENT') fail(notFound(file), NOT_FOUND)
  else fail(`${file} cannot be run: ${message}`, CANNOT_EXECUTE)
}

/** @param {string} file */
function notFound(file) {
  if (!file.includes('/')) {
    return `${file} was not found on the PATH; for a package's command: cpu-prof run npx ${file} …`
  }
  return fs.existsSync(file)
    ? `${file} cannot be run: the interpreter in its first line does not exist`
    : `${file} was not found`
}

/** @param {string} file */
function whyNothing(file) {
  return `no Node process was recorded: ${file} started none, or changed their NODE_OPTIONS`
}

module.exports = { run }
