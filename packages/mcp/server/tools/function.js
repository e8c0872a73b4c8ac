'use strict'

// The tool `function`: one function with its callers, callees, lines, processes and code.

const { formatPlace, formatShare, formatTime } = require('@org/cpu-prof/own-packages').format
const { workMs } = require('@org/cpu-prof/own-packages').tables
const { codeOf } = require('../code.js')
const { filters, run, text, top } = require('../inputs.js')
const { readRun } = require('../overview.js')
const { Refusal } = require('../root.js')

/** @typedef {import('../answer.js').List} List */

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'function',
  title: 'One function',
  description:
    'Tells about one function of a run: total and self time, who calls it, what it calls, in which ' +
    'processes it ran, its hottest lines and, if it is in the project, their code. Use it on names ' +
    'and places of hotspots.',
  writes: false,
  input: (z) => ({
    function: text(z).describe('Its name or path:line, or a part of them.'),
    run: run(z),
    top: top(z),
    ...filters(z, ['process', 'thread', 'focus', 'label', 'from', 'to']),
  }),
  async answer({ function: wanted, top, ...args }, { root }) {
    const { report, facts, notes } = await readRun(root, args, { function: wanted, top: 200 })
    const [detail, ...others] = report.details ?? []
    if (detail === undefined) {
      throw new Refusal(
        `no recorded function has '${wanted}' in its name or path:line; hotspots lists them`,
      )
    }
    const whole = workMs(report)
    const place = formatPlace(detail, root.folder)
    const { lists: code, refusals } = codeOf(
      { ...report, details: [detail], lines: detail.lines },
      1,
      root,
    )
    const also = others.map((each) => `${each.name} ${formatPlace(each, root.folder)}`)
    const { totalMs, selfMs } = detail
    return {
      facts: {
        run: facts.run,
        name: detail.name,
        place,
        package: detail.package,
        totalMs,
        selfMs,
        share: totalMs / whole,
        also: also.length > 0 ? also : undefined,
      },
      head: [
        `${detail.name}  ${place}: total ${formatTime(totalMs)} (${formatShare(totalMs, whole)} of ${formatTime(whole)} of work), self ${formatTime(selfMs)}`,
        also.length > 0 ? `other functions of this name: ${also.join(', ')}` : '',
      ],
      lists: [
        callList(
          'callers',
          'callers, by the time of their calls',
          detail.callers,
          whole,
          root,
          top,
        ),
        callList('callees', 'callees, by the time of the calls', detail.callees, whole, root, top),
        ...(code.length > 0 ? code : [lineList(detail.lines, root, top)]),
        processList(detail, top),
      ],
      notes: [...refusals, ...notes],
      more: 'a larger maxTokens shows more',
    }
  },
}

/**
 * @param {string} key @param {string} title @param {import('@org/cpu-prof').ReportCall[]} calls
 * @param {number} whole @param {import('../overview.js').Root} root @param {number} top @returns {List}
 */
function callList(key, title, calls, whole, root, top) {
  const rows = calls
    .slice(0, top)
    .map(({ name = '(event loop)', file = '', line = 0, totalMs }) => {
      const place =
        file === '' && name === '(event loop)' ? '' : formatPlace({ file, line }, root.folder)
      const text =
        `${formatTime(totalMs)} ${formatShare(totalMs, whole)}  ${name}  ${place}`.trimEnd()
      return { text, data: { name, place, totalMs } }
    })
  return { key, title, rows }
}

/** @param {import('@org/cpu-prof').ReportLine[]} lines @param {import('../overview.js').Root} root @param {number} top @returns {List} */
function lineList(lines, root, top) {
  const known = lines.filter(({ line }) => line > 0).slice(0, top)
  const rows = known.map((line) => {
    const place = formatPlace(line, root.folder)
    return { text: `${formatTime(line.selfMs)}  ${place}`, data: { place, selfMs: line.selfMs } }
  })
  return { key: 'lines', title: 'lines, by self time', rows }
}

/** @param {import('@org/cpu-prof').ReportDetail} detail @param {number} top @returns {List} */
function processList({ processes }, top) {
  const rows = processes.slice(0, top).map(({ pid, name, totalMs, selfMs }) => ({
    text: `${formatTime(totalMs)}  ${name} (${pid})`,
    data: { name, pid, totalMs, selfMs },
  }))
  return { key: 'processes', title: 'processes, by total time', rows }
}
