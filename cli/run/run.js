'use strict'

// `cpu-prof run`: records every Node process and thread under a command, once or several times.

const { endAs } = require('./watch/child.js')
const { record } = require('./record.js')

/** @param {string[]} command @param {import('./prepare/plan.js').Options & Record<string, any>} options */
async function run(command, { repeat, warmup, ...options }) {
  if (repeat !== undefined || warmup !== undefined) {
    const { repeatRun } = require('./repeat.js')
    return repeatRun(command, { ...options, repeat, warmup })
  }
  const ending = await record(command, options)
  if (ending !== undefined) endAs(ending)
}

module.exports = { run }
