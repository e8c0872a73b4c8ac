'use strict'

// The tool `runs`: what has been recorded in the project.

const fs = require('node:fs')
const path = require('node:path')
const { isDefect } = require('@org/cpu-prof/own-packages').defect
const { messageOf } = require('@org/cpu-prof/own-packages').errorText
const { formatCount, formatTime } = require('@org/cpu-prof/own-packages').format
const { readRun } = require('../overview.js')
const { Refusal } = require('../root.js')

/** Runs that are read: each takes the time of a report. */
const MOST = 20
/** A larger run is named without being read: bytes. */
const MAX_BYTES = 200_000_000

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'runs',
  title: 'List recorded runs',
  description:
    'Lists the recorded runs of the project, newest first, with what each ran and how long it took. ' +
    'The names are arguments of the other tools.',
  writes: false,
  input: (z) => ({
    limit: z.number().int().min(1).max(MOST).default(10).describe('Runs to list.'),
  }),
  async answer({ limit }, { root }) {
    const names = root.listRuns().reverse()
    const rows = []
    for (const name of names.slice(0, limit)) rows.push(await describe(name, root))
    const rest = names.length - rows.length
    const head =
      names.length === 0
        ? 'nothing has been recorded yet: record makes a run'
        : `${formatCount(names.length, 'run')} in ${path.relative(root.folder, root.runs)}, newest first`
    return {
      facts: { count: names.length },
      head: [rest > 0 ? `${head}; ${rest} older ones are not listed` : head],
      lists: [{ key: 'runs', title: 'run: duration, main process', rows }],
      more: 'a larger maxTokens shows more',
    }
  },
}

/** @param {string} name @param {import('../overview.js').Root} root */
async function describe(name, root) {
  try {
    if (bytesOf(root.find(name)) > MAX_BYTES)
      return { text: `${name}: large, not read`, data: { run: name } }
    const { report, facts } = await readRun(root, { run: name }, { top: 0 })
    const { durationMs, processes } = report
    const { sentence } = facts
    const command = processes[0]?.command ?? ''
    const text = `${name}: ${formatTime(durationMs)}, ${command}${sentence ? `: ${sentence}` : ''}`
    return { text, data: { run: name, durationMs, command, processes: processes.length, sentence } }
  } catch (error) {
    const isTold = error instanceof Refusal || isDefect(error)
    const problem = isTold ? messageOf(error) : 'it cannot be read'
    return { text: `${name}: ${problem}`, data: { run: name, problem } }
  }
}

/** @param {string} place a file or a folder @returns {number} */
function bytesOf(place) {
  const stat = fs.statSync(place)
  if (!stat.isDirectory()) return stat.size
  const sizes = fs
    .readdirSync(place, { withFileTypes: true })
    .map((entry) => (entry.isFile() ? fs.statSync(path.join(place, entry.name)).size : 0))
  return sizes.reduce((sum, size) => sum + size, 0)
}
