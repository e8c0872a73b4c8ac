'use strict'

// `cpu-prof check`: lists what is wrong with traces and profiles.

const index = require('../../index.js')
const { FAILED } = require('../exit-codes.js')
const { withInputs } = require('../terminal/input.js')
const {
  formatCount,
  formatPath,
  jsonText,
  printable,
  workingDirectory,
} = require('../terminal/format.js')
const { fail, failWith, printResult } = require('../terminal/output.js')

/** @typedef {import('../../index.js').Check} Check */
/** @typedef {import('../../index.js').FileCheck} FileCheck */

/** @param {string[]} inputs @param {{ json?: boolean }} options */
async function check(inputs, { json }) {
  /** @type {Check} */
  let result
  try {
    result = await withInputs(inputs, (files) => index.check(files))
  } catch (error) {
    return failWith(error)
  }
  const { files, failed } = result
  printResult(json ? jsonText(result) : render(result))
  const isFine = failed.length === 0 && files.every(isUsable)
  if (!isFine) process.exitCode = FAILED
  else if (files.length === 0) fail('there is no trace to check in these folders')
}

/** Returns whether tools show a file whole. @param {FileCheck} file */
function isUsable({ loads, problems }) {
  return loads && problems.every(({ severity }) => severity === 'warning')
}

/** @param {Check} result */
function render({ files, failed }) {
  const cwd = workingDirectory()
  const lines = files.flatMap((file) => [
    printable(`${formatPath(file.file, cwd)}: ${summary(file)}`),
    ...file.problems.map(problemLine),
  ])
  for (const { file, reason } of failed)
    lines.push(printable(`${formatPath(file, cwd)}: ${reason}`))
  return lines.map((line) => `${line}\n`).join('')
}

/** @param {FileCheck} file */
function summary({ kind, events, profiles, samples, problems }) {
  const many = (/** @type {string} */ severity) => {
    const found = problems.filter((problem) => problem.severity === severity)
    return found.reduce((sum, { more = 0 }) => sum + 1 + more, 0)
  }
  const counts = [
    ...(many('fatal') > 0 ? ['cannot be loaded'] : []),
    ...(many('error') > 0 ? [formatCount(many('error'), 'error')] : []),
    ...(many('warning') > 0 ? [formatCount(many('warning'), 'warning')] : []),
  ]
  const what = {
    trace: `a trace of ${formatCount(events, 'event')}, ${formatCount(profiles, 'profile')} and ${formatCount(samples, 'sample')}`,
    cpuprofile: `a profile of ${formatCount(samples, 'sample')}`,
  }
  const found = counts.length === 0 ? 'no problem' : counts.join(', ')
  return kind === undefined ? found : `${what[kind]}: ${found}`
}

/** @param {import('../../index.js').Problem} problem */
function problemLine({ severity, line, field, message, more = 0 }) {
  const place = [...(line > 0 ? [`line ${line}`] : []), ...(field === undefined ? [] : [field])]
  const others = more > 0 ? ` (and ${more} more)` : ''
  return printable(`  ${severity}  ${[...place, message].join('  ')}${others}`)
}

module.exports = { check }
