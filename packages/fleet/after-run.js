'use strict'

// Adds a run to a lake at its end. Whatever goes wrong there is one line, and changes nothing else.

const { formatPath, workingDirectory } = require('../../terminal/format.js')
const { printError, printStatus } = require('../../terminal/output.js')

/**
 * Adds the run, if a lake is named. Never throws.
 * @param {string[]} recordings files, which are still there
 * @param {import('./collect.js').Run} run
 */
async function addToLake(recordings, run) {
  const { lake, quiet, tellsLake = !quiet, sourceMaps, symbols, plannedMs, finalDir } = run
  if (lake === undefined) return
  const cwd = workingDirectory()
  const name = formatPath(lake, cwd)
  try {
    const { addRun } = require('../../fleet/add-run.js')
    const { openStore } = require('../../fleet/store.js')
    const { addedText } = require('../../fleet/text.js')
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
