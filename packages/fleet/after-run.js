'use strict'

// Adds a run to a lake at its end. Whatever goes wrong there is one line, and changes nothing else.

const { formatPath, workingDirectory } = require('@org/cpu-prof/own-packages').format
const { printError, printStatus } = require('@org/cpu-prof/own-packages').output

/**
 * Adds the run, if a lake is named. Never throws.
 * @param {string[]} recordings files, which are still there
 * @param {import('@org/cpu-prof/own-packages').EndedRun} run
 */
async function addToLake(recordings, run) {
  const { lake, quiet, tellsLake = !quiet, sourceMaps, symbols, plannedMs, finalDir } = run
  if (lake === undefined) return
  const cwd = workingDirectory()
  const name = formatPath(lake, cwd)
  try {
    const { addRun } = require('./base/add-run.js')
    const { openStore } = require('./base/store.js')
    const { addedText } = require('./base/text.js')
    const circumstances = { recordedIn: cwd || undefined, cwd, knownMs: plannedMs }
    const adding = { given: {}, circumstances, selection: { sourceMaps, symbols } }
    const added = await addRun(openStore(lake), recordings, adding)
    for (const note of added.tables.notes) if (tellsLake) printStatus(note)
    if (tellsLake) printStatus(addedText(added, name))
  } catch (error) {
    const place = formatPath(finalDir, cwd)
    printError(error, {
      before: `not added to the lake ${name}: `,
      after: `; to add it later: cpu-prof lake add ${place} --to ${name}`,
    })
  }
}

module.exports = { addToLake }
