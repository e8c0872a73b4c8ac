'use strict'

// The tool `compare`: what has become slower or faster.

const { allRunsOf, compare } = require('@org/cpu-prof/own-packages').offline
const { cellsOf, noiseOf, tablesOf, verdict } = require('@org/cpu-prof/own-packages').compareRows
const { filters, selectionOf, text, top } = require('../inputs.js')
const { problemsOf } = require('../overview.js')

/** @typedef {import('@org/cpu-prof').ComparedRow} Row */

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'compare',
  title: 'Compare two runs',
  description:
    'Compares two recordings, or two sets of runs (record with repeat): what became slower or faster ' +
    'beyond the noise, by function, file, package, owner and process. With one run on a side the noise ' +
    'is assumed and only large changes are named; four runs on each side measure it.',
  writes: false,
  input: (z) => ({
    base: text(z).describe('The runs before the change: a name that record gave, or a path.'),
    head: text(z).describe('The runs after it.'),
    shares: z
      .boolean()
      .default(false)
      .describe(
        'Compare shares of the work instead of times, for machines that are not equally fast.',
      ),
    top: top(z),
    ...filters(z, ['process', 'package', 'focus', 'label']),
  }),
  async answer({ base, head, shares, top, ...args }, { root }) {
    const [before, after] = [base, head].map((side) => root.find(side))
    const result = await compare(before, after, {
      ...selectionOf(args),
      sourcesIn: root.folder,
      shares,
    })
    const [text, noise] = [verdict(result), noiseOf(result)]
    const counts = [before, after].map((side) => allRunsOf(side).length)
    return {
      facts: {
        verdict: text,
        noise: { how: result.noise, text: noise },
        base: { name: root.nameOf(before), runs: counts[0] },
        head: { name: root.nameOf(after), runs: counts[1] },
      },
      head: [text, noise],
      lists: tablesOf(result).map(({ title, rows, isWhole }) => ({
        key: isWhole ? 'whole' : keyOf(rows[0]),
        title: `${title} (base → head)`,
        rows: (isWhole ? rows : rows.slice(0, top)).map(rowOf),
      })),
      notes: problemsOf(result),
      more: 'a larger maxTokens or top shows more',
    }
  },
}

/** Returns the name of a table: `functionsBySelf`. @param {Row} row */
const keyOf = ({ kind, measure }) => `${kind}sBy${measure[0].toUpperCase()}${measure.slice(1)}`

/** @param {Row} row */
function rowOf(row) {
  const cells = cellsOf(row)
  const beyond = row.changed ? ` (${cells.relative}, noise ${cells.noise})` : ' (no change)'
  const from = [cells.caller && `in ${cells.caller}`, cells.former && `was ${cells.former}`]
  const name = [cells.name, cells.place, ...from].filter(Boolean).join('  ')
  const { base, head, difference, unit, changed } = row
  return {
    text: `${cells.base} → ${cells.head}: ${cells.difference}${beyond}  ${name}`,
    data: {
      name: cells.name,
      place: cells.place,
      base,
      head,
      difference,
      unit,
      changed,
      noise: cells.noise,
    },
  }
}
