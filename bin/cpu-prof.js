#!/usr/bin/env node
'use strict'

// The command `cpu-prof`.

const [command, first, ...rest] = process.argv.slice(2)

// `run` without options needs no parser, and starts 15 ms sooner without one.
if (command === 'run' && first === '--' && rest.length > 0) run(rest)
else if (command === 'run' && first !== undefined && !first.startsWith('-')) run([first, ...rest])
else require('../cli/main.js').main(process.argv).then(end)

/** @param {string[]} command */
function run(command) {
  require('../cli/run/run.js').run(command, { merge: true, sourceMaps: true }).then(end)
}

function end() {
  try {
    require('../cli/end.js').endWhenOver()
  } catch {
    // The command removed this package. Node ends the process.
  }
}
