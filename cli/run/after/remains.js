'use strict'

// Offers the recordings of earlier runs that are in no trace.

const { IS_WINDOWS, isAlive, isSamePath } = require('../../system/index.js')
const { printStatus } = require('../../terminal/output.js')
const { workingDirectory } = require('../../terminal/format.js')
const { quotePath } = require('../../terminal/shell.js')
const { headersOf, listNames } = require('../prepare/recordings-dir.js')
const { listRunStates } = require('../prepare/run-state-dir.js')

/** Names the runs that were started in the working directory, and left recordings. */
function printRemains() {
  for (const { folder, recordingsDir, info, hasEnded } of findRemains(workingDirectory())) {
    const run = `an earlier run (${info.command.join(' ')})`
    printStatus(
      (hasEnded
        ? `${run} had a process that went on after the run, and has ended now`
        : `${run} was killed before its trace was written`) + choiceText(recordingsDir, folder),
    )
  }
}

/** Returns what a user can do with recordings that were left. @param {string} recordings their folder @param {string} folder what to remove */
function choiceText(recordings, folder) {
  return (
    `; to keep its recordings: cpu-prof merge ${quotePath(recordings)} -o trace.json` +
    `; to drop it: ${IS_WINDOWS ? `remove ${folder}` : `rm -r ${quotePath(folder)}`}`
  )
}

/** Returns the runs of a working directory that left recordings, to which nobody adds. @param {string} cwd */
function findRemains(cwd) {
  return listRunStates().filter(
    ({ recordingsDir, info, hasEnded }) =>
      isSamePath(info.cwd, cwd) &&
      listNames(recordingsDir).some((name) => !name.startsWith('.')) &&
      !(hasEnded ? isGrowing(recordingsDir) : isAlive(info.pid)),
  )
}

/** Returns whether a process that has a recording in the folder is alive. @param {string} folder */
function isGrowing(folder) {
  return headersOf([folder]).some(({ pid }) => pid !== null && isAlive(pid))
}

module.exports = { printRemains, choiceText }
