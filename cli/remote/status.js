'use strict'

// `cpu-prof status`: shows the state of processes.

const { nameOf } = require('../control/choose.js')
const {
  formatCount,
  formatPath,
  formatTime,
  jsonText,
  printable,
  workingDirectory,
} = require('../terminal/format.js')
const { fail, printResult } = require('../terminal/output.js')
const { asJson } = require('./ps.js')
const { detailsOf, folderOf, stateOf } = require('./state.js')
const { findTargets } = require('./targets.js')

/** @param {string[]} words @param {{ json?: boolean } & import('./targets.js').Options} options */
async function status(words, { json, ...options }) {
  const targets = await findTargets(words, options)
  if (json) return printResult(jsonText(targets.map(asJson)))
  const [cwd, nowMs] = [workingDirectory(), Date.now()]
  for (const target of targets) {
    if (target.status === undefined) fail(`${nameOf(target)}: ${target.problem}`)
    else printResult(renderStatus(target, cwd, nowMs))
  }
}

/** @param {import('../control/processes.js').Armed} armed @param {string} cwd @param {number} nowMs */
function renderStatus(armed, cwd, nowMs) {
  const { status, packageName } = armed
  if (status === undefined) return ''
  const { node, script, argv, threads, recording, last, armedMs } = status
  const ago = (/** @type {number} */ ms) => `${formatTime(Math.max(0, nowMs - ms))} ago`
  const program = [formatPath(script, cwd), ...argv.slice(2)].join(' ').trim()
  const rows = [
    ['state', stateOf(armed, nowMs)],
    ...(recording === null ? [] : [['', detailsOf(recording, nowMs)]]),
    ['program', [program, node && `Node ${node}`, packageName].filter(Boolean).join(', ')],
    ['threads', String(threads)],
    ['armed', ago(armedMs)],
    ['folder', formatPath(folderOf(status), cwd)],
    ...(recording?.files ?? []).map((file) => ['writes', formatPath(file, cwd)]),
    ...(last === null
      ? []
      : [['last', `${formatCount(last.files.length, 'file')}, ${ago(last.endedMs)}`]]),
    ...(last?.files ?? []).map((file) => ['', formatPath(file, cwd)]),
  ]
  const lines = rows
    .filter(([, text]) => text !== '')
    .map(([head, text]) => `  ${head.padEnd(9)}${printable(text)}`)
  return `${[printable(nameOf(armed)), ...lines].join('\n')}\n`
}

module.exports = { status, renderStatus }
