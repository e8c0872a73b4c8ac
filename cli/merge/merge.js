'use strict'

// `cpu-prof merge`: merges recordings into one trace.

const index = require('../../index.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { formatBytes, formatCounts, jsonText } = require('../terminal/format.js')
const { withInputs } = require('../terminal/input.js')
const { progress } = require('../terminal/progress.js')
const { withCleanup } = require('../terminal/cleanup.js')
const {
  STDOUT,
  isStdout,
  printPaths,
  printStatus,
  printResult,
  printProblems,
  fail,
  failWith,
} = require('../terminal/output.js')

/**
 * @param {string[]} inputs
 * @param {{ output: string, name?: string[], json?: boolean, quiet?: boolean } & import('../../index.js').MergeOptions} options
 */
async function merge(inputs, { output, name = [], json, quiet, ...options }) {
  if (inputs.length + name.length === 0) {
    return fail("merge needs inputs: files or folders, for example 'profiles'", WRONG_USAGE)
  }
  const bar = progress('merging')
  const toStdout = isStdout(output)
  if (toStdout && json) return fail('--json and the trace cannot both go to stdout')
  let result
  try {
    const onProgress = quiet ? undefined : bar.update
    const target = toStdout ? STDOUT : output
    const labelled = name.map(splitName)
    const all = [...inputs, ...labelled.map(({ input }) => input)]
    result = await withInputs(all, (files) => {
      // A label can be any text, `__proto__` too.
      const names = /** @type {Record<string, string[]>} */ (Object.create(null))
      for (const [at, { label }] of labelled.entries()) {
        names[label] = [...(names[label] ?? []), files[inputs.length + at]]
      }
      const settings = { ...options, names, onProgress }
      return withCleanup(() => index.merge(files.slice(0, inputs.length), target, settings))
    })
  } catch (error) {
    bar.end()
    return failWith(error)
  }
  bar.end()
  printProblems(result)
  if (!quiet) printStatus(describeResult(result))
  // The trace itself is on stdout.
  if (toStdout) return
  if (json) printResult(jsonText(result))
  else printPaths(result.files)
}

/** Splits `base=profiles/a`. @param {string} text */
function splitName(text) {
  const at = text.indexOf('=')
  return { label: text.slice(0, at), input: text.slice(at + 1) }
}

/** @param {import('../../index.js').MergeResult} result */
function describeResult({ bytes, processes, threads }) {
  return `${formatCounts(processes, threads)}, ${formatBytes(bytes)}`
}

module.exports = { merge }
