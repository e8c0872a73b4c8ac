'use strict'

// Offers the recordings of earlier runs that are in no trace.

const { printStatus } = require('../../terminal/output.js')
const { workingDirectory } = require('../../terminal/format.js')
const { quotePath } = require('../../terminal/shell.js')
const { findRemains } = require('../prepare/run-state-dir.js')

/** Names the runs that were started in the working directory, and left recordings. */
function printRemains() {
  for (const { folder, recordings, command, wasKilled } of findRemains(workingDirectory())) {
    const run = `an earlier run (${command.join(' ')})`
    printStatus(
      (wasKilled
        ? `${run} was killed before its trace was written`
        : `${run} had a process that went on after the run, and has ended now`) +
        `; to keep its recordings: cpu-prof merge ${quotePath(recordings)} -o trace.json` +
        `; to drop it: rm -r ${quotePath(folder)}`,
    )
  }
}

module.exports = { printRemains }
