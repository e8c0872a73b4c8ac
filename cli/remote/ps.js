'use strict'

// `cpu-prof ps`: lists the processes that can be controlled.

const { listArmed } = require('../control/processes.js')
const { jsonText, workingDirectory } = require('../terminal/format.js')
const { printResult, printStatus } = require('../terminal/output.js')
const { screen } = require('../terminal/width.js')
const { renderProcesses } = require('./table.js')
const { HOW_TO_ARM } = require('./targets.js')

/** @param {{ json?: boolean }} options */
async function ps({ json }) {
  const processes = await listArmed()
  if (json) return printResult(jsonText(processes.map(asJson)))
  if (processes.length === 0) return printStatus(`no process is armed; ${HOW_TO_ARM}`)
  const { columns } = screen(process.stdout)
  const view = { columns, cwd: workingDirectory(), nowMs: Date.now(), user: process.geteuid?.() }
  printResult(renderProcesses(processes, view))
}

/** @param {import('../control/processes.js').Armed} armed */
function asJson({ pid, socket, status, packageName, problem }) {
  return { ...status, pid, user: socket.user, package: packageName, problem }
}

module.exports = { ps, asJson }
