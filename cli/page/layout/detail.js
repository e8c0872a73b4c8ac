'use strict'

// Lays out one function: its times, callers, callees, lines, code, and where it ran, as texts.

const { callsOf, leavesWith, lineCosts, threadTimes } = require('../data/calls.js')
const { nameOf, placeOf, processLabel, shortPlaceOf } = require('../data/names.js')
const { callsOfSides, formatChange, formatDifference } = require('../data/sides.js')
const { chooseThreads, spanOf, threadsOf } = require('../state.js')
const { formatShare, formatTime } = require('../../terminal/units.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/recording.js').Process} Process */
/** @typedef {import('../state.js').Shown} Shown */
/**
 * @typedef {object} Row
 * @property {string[]} cells
 * @property {number} share of the work, from 0 to 1, for the bar
 * @property {string} name
 * @property {string} place
 * @property {string} [title] the whole place
 * @property {number} [item] the function to select
 * @property {Partial<import('../state.js').State>} [choice] what else a click selects
 *
 * @typedef {{ number: number, text: string, time: string }} CodeLine
 */

/** Lines of code that are shown. */
const MAX_CODE = 40

/**
 * Returns the texts of a function, with its lists of rows.
 * @param {Recording} recording @param {Shown} shown @param {number} item
 */
function layoutDetail(recording, shown, item) {
  const { costs, sides } = shown
  const { callers, callees } = sides
    ? callsOfSides(recording, sides, item)
    : callsOf(recording, costs, item)
  /** @param {{ item: number, us: number, sides?: string }} call @returns {Row} */
  const rowOf = ({ item: other, us, sides: times }) => ({
    cells: times ? [formatDifference(us), times] : cellsOf(us, costs.workUs),
    share: times ? 0 : us / Math.max(1, costs.workUs),
    ...(other === -1
      ? { name: '(event loop)', place: '' }
      : {
          name: nameOf(recording, other),
          place: shortPlaceOf(recording, other),
          title: placeOf(recording, other),
          item: other,
        }),
  })
  const lines = sides ? [] : lineCosts(recording, costs, item).filter(({ line }) => line > 0)
  const lineRows = lines.map(({ line, us }) => ({
    cells: cellsOf(us, costs.workUs),
    share: us / Math.max(1, costs.workUs),
    name: `line ${line}`,
    place: '',
  }))
  const code = sides ? [] : codeOf(recording, item, lines)
  return {
    name: nameOf(recording, item),
    place: placeOf(recording, item),
    times: textOfTimes(shown, item),
    code,
    lists: [
      { title: 'callers, by the time of their calls', rows: callers.map(rowOf) },
      { title: 'callees, by the time of the calls', rows: callees.map(rowOf) },
      { title: 'lines, by self time', rows: code.length > 0 ? [] : lineRows },
      {
        title: 'processes, by the time with the function and its waits',
        rows: ranIn(recording, shown, item),
      },
    ],
  }
}

/**
 * Returns the lines of code that the page has of a function, with their times.
 * @param {Recording} recording @param {number} item
 * @param {{ line: number, us: number }[]} lines the hottest first @returns {CodeLine[]}
 */
function codeOf({ code, fullPaths, files }, item, lines) {
  const texts = code.get(fullPaths[files[item]])
  if (texts === undefined || lines.length === 0) return []
  const times = new Map(lines.map(({ line, us }) => [line, us]))
  const wanted = new Set(lines.flatMap(({ line }) => [line - 1, line, line + 1]))
  const shown = [...wanted].filter((number) => texts.has(number)).slice(0, MAX_CODE)
  const textOf = (/** @type {number} */ number) => texts.get(number) ?? ''
  const full = shown.map(textOf).filter((text) => text.trim() !== '')
  const indent = Math.min(...full.map((text) => text.search(/\S/)))
  return shown
    .sort((a, b) => a - b)
    .map((number) => {
      const us = times.get(number)
      const time = us === undefined ? '' : formatTime(us / 1000)
      return { number, text: textOf(number).slice(indent), time }
    })
}

/** Returns the processes in which a function ran, if there are several. @param {Recording} recording @param {Shown} shown @param {number} item @returns {Row[]} */
function ranIn(recording, { state, marked, sides }, item) {
  const { processes } = recording
  if (sides || processes.length < 2) return []
  const isSelected = state.function === item && state.query === ''
  const threadUs =
    isSelected && marked
      ? marked.threadUs
      : threadTimes(
          recording,
          leavesWith(recording, (other) => other === item),
          spanOf(state, recording),
        )
  const selected = new Set(threadsOf(state, recording))
  const rows = processes.map((process) => {
    const threads = process.threads.filter(({ index }) => selected.has(index))
    return { process, us: threads.reduce((sum, { index }) => sum + threadUs[index], 0) }
  })
  const all = rows.reduce((sum, { us }) => sum + us, 0)
  return rows
    .filter(({ us }) => us > 0)
    .sort((a, b) => b.us - a.us)
    .map(({ process, us }) => ({
      cells: cellsOf(us, all),
      share: us / all,
      name: processLabel(process),
      place: '',
      choice: chooseThreads(
        state,
        recording,
        process.threads.map(({ index }) => index),
        false,
      ),
    }))
}

/** Returns a time and its share. @param {number} us @param {number} workUs */
function cellsOf(us, workUs) {
  return [formatTime(us / 1000), formatShare(us, workUs)]
}

/** Returns the times of a function on one line. @param {Shown} shown @param {number} item */
function textOfTimes({ costs, sides }, item) {
  const names = /** @type {const} */ (['total', 'self'])
  if (sides) {
    const [base, head] = [sides.base.functionCosts, sides.head.functionCosts]
    return names
      .map((name) => `${name} ${formatChange(base[name][item], head[name][item])}`)
      .join(' · ')
  }
  const { workUs, wallUs, functionCosts } = costs
  const times = names.map((name) => {
    const [time, share] = cellsOf(functionCosts[name][item], workUs)
    return `${name} ${time} (${share})`
  })
  const criticalUs = functionCosts.critical[item]
  if (criticalUs > 0) {
    const [time, share] = cellsOf(criticalUs, wallUs)
    times.push(`critical ${time} (${share} of the wall time)`)
  }
  for (const name of /** @type {const} */ (['blocked', 'waiting'])) {
    const us = functionCosts[name][item]
    if (us > 0) times.push(`${name} ${formatTime(us / 1000)}`)
  }
  return times.join(' · ')
}

module.exports = { layoutDetail }
