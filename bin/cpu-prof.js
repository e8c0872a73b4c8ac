#!/usr/bin/env node
'use strict'

// The command `cpu-prof`.

const [command, first, ...rest] = process.argv.slice(2)

process.on('uncaughtException', endWith)

// `run` without options needs no parser, and starts 15 ms sooner without one.
if (command === 'run' && first === '--' && rest.length > 0) run(rest)
else if (command === 'run' && first !== undefined && !first.startsWith('-')) run([first, ...rest])
else require('../cli/main.js').main(process.argv).then(end, endWith)

/** @param {string[]} command */
function run(command) {
  const { run } = require('../cli/run/run.js')
  run(command, { merge: true, sourceMaps: true }).then(end, endWith)
}

function end() {
  try {
    require('../cli/end.js').endWhenOver()
  } catch {
    // The command removed this package. Node ends the process.
  }
}

/** Ends the process for an error that nobody has caught. @param {unknown} error */
function endWith(error) {
  require('../cli/terminal/output.js').endWith(error)
}
