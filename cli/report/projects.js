'use strict'

// Chooses the rows of the tables of projects, and of what TypeScript's compiler did in them.

const { formatPath, formatTime } = require('../terminal/format.js')
const { withSlashes } = require('../terminal/path-text.js')

/** @typedef {import('../../index.js').Report} Report */
/** @typedef {import('../../index.js').ReportPart} Part */
/** @typedef {import('./tables.js').CostTable} CostTable */

const UNKNOWN = '(unknown folder)'
const UNRECORDED = 'by file: category typescript'

/**
 * @param {Report} report with its projects @param {CostTable['whole']} whole @param {string} cwd
 * @returns {CostTable[]}
 */
function projectTables({ projects = [] }, whole, cwd) {
  const files = projects.flatMap(({ path, files }) => files.map((file) => ({ ...file, path })))
  /** @type {(title: string, names: string[], rows: CostTable['rows'], ...others: string[]) => CostTable} */
  const table = (title, names, rows, ...others) => {
    const sorted = rows.filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms)
    return { title, names, heads: ['total', ...others], whole, rows: sorted }
  }
  const ofProjects = projects.map(({ path, totalMs, cpuMs, processes }) => ({
    name: formatFolder(path, cwd),
    place: processes === 1 ? '1 process' : `${processes} processes`,
    ms: totalMs,
    others: [cpuMs === undefined ? '–' : formatTime(cpuMs)],
  }))
  const hint = files.length === 0 ? ` (${UNRECORDED})` : ''
  const ofFiles = files.map(({ file, path, totalMs, constructs: [most] }) => {
    const construct = most === undefined ? '' : `${most.name} · `
    return {
      name: formatPath(file, cwd),
      place: `${construct}${formatFolder(path, cwd)}`,
      ms: totalMs,
      others: [],
    }
  })
  return [
    table('projects, by the work of their processes', ['project', 'processes'], ofProjects, 'cpu'),
    table(`TypeScript, by phase and construct${hint}`, ['phase'], partRows(projects)),
    table('TypeScript, by checked file', ['file', 'most of it, project'], ofFiles),
  ].filter(({ rows }, index) => index === 0 || rows.length > 0)
}

/** Returns the phases; that of checking by construct. @param {NonNullable<Report['projects']>} projects @returns {CostTable['rows']} */
function partRows(projects) {
  const phases = summed(projects.flatMap(({ phases }) => phases))
  const constructs = summed(projects.flatMap(({ constructs }) => constructs))
  const checkMs = phases.get('check') ?? 0
  const told = [...constructs.values()].reduce((sum, ms) => sum + ms, 0)
  phases.delete('check')
  const ofCheck = [...constructs, ['the rest', checkMs - told]]
  return [
    ...[...phases].map(([name, ms]) => ({ name, place: '', ms, others: [] })),
    .../** @type {[string, number][]} */ (ofCheck).map(([name, ms]) => {
      return { name: `check: ${name}`, place: '', ms, others: [] }
    }),
  ]
}

/** Returns the sums by name. @param {Part[]} parts */
function summed(parts) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const { name, totalMs } of parts) sums.set(name, (sums.get(name) ?? 0) + totalMs)
  return sums
}

/** @param {string} folder @param {string} cwd */
function formatFolder(folder, cwd) {
  if (folder === '') return UNKNOWN
  return folder === withSlashes(cwd) ? '.' : formatPath(folder, cwd)
}

module.exports = { projectTables }
