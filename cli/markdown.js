'use strict'

// A report as Markdown tables, for a pull request, say.

const { formatTime, formatShare, formatCount, formatPath, formatPlace } = require('./format.js')
const { printable } = require('./format.js')
const { activeMs, threadRows, hottest, countThreads } = require('./sections.js')

/** @typedef {import('../index.js').Report} Report */

/**
 * @param {Report} report
 * @param {{ cwd: string, by?: import('./text.js').By, top?: number }} view
 */
function renderMarkdown(report, { cwd, by, top = 10 }) {
  const { totals, processes } = report
  const whole = activeMs(totals)
  const blocks = [
    `**${formatTime(report.durationMs)}**, ${formatCount(processes.length, 'process', 'processes')}, ` +
      `${formatCount(countThreads(report), 'thread')}: busy ${formatTime(totals.busyMs)}, ` +
      `garbage collection ${formatTime(totals.gcMs)}, program ${formatTime(totals.programMs)}, ` +
      `idle ${formatTime(totals.idleMs)}`,
  ]
  if (by === undefined || by === 'thread') {
    const { rows, rest, restMs } = threadRows(
      report,
      by === 'thread' && top === 10 ? Infinity : top,
    )
    const lines = rows.map(({ thread, label }) => [
      label.startsWith('  ') ? `&nbsp;&nbsp;${plain(label.trim())}` : plain(label),
      formatTime(thread.startMs),
      formatTime(thread.durationMs),
      formatTime(thread.busyMs),
      formatTime(thread.gcMs),
      formatTime(thread.programMs),
      formatTime(thread.idleMs),
    ])
    const names = ['process, thread', 'start', 'duration', 'busy', 'gc', 'program', 'idle']
    blocks.push('### Processes and threads', table(names, lines))
    if (rest > 0) {
      blocks.push(`and ${formatCount(rest, 'more thread')}, ${formatTime(restMs)} not idle`)
    }
  }
  /** @param {'functions' | 'files' | 'packages'} kind @param {'selfMs' | 'totalMs'} time */
  const add = (kind, time) => {
    /** @type {any[]} */
    const all = report[kind]
    const title = `${kind[0].toUpperCase()}${kind.slice(1)}, by ${time.slice(0, -2)} time`
    const names = [
      kind.slice(0, -1),
      ...(kind === 'functions' ? ['where'] : []),
      'self',
      'total',
      'share',
    ]
    const lines = hottest(all, time, top).map((cost) => [
      ...(kind === 'functions' ? [code(cost.name), code(formatPlace(cost, cwd))] : []),
      ...(kind === 'files'
        ? [cost.file === '' ? '(native)' : code(formatPath(cost.file, cwd))]
        : []),
      ...(kind === 'packages' ? [code(cost.name)] : []),
      formatTime(cost.selfMs),
      formatTime(cost.totalMs),
      formatShare(cost[time], whole),
    ])
    blocks.push(`### ${title}`, table(names, lines))
  }
  if (by === undefined) {
    add('functions', 'selfMs')
    add('functions', 'totalMs')
    add('packages', 'selfMs')
  } else if (by !== 'thread') {
    add(/** @type {'functions'} */ (`${by}s`), 'selfMs')
    add(/** @type {'functions'} */ (`${by}s`), 'totalMs')
  }
  return `${blocks.join('\n\n')}\n`
}

/** Times to the right. @param {string[]} names @param {string[][]} rows */
function table(names, rows) {
  const isText = (/** @type {string} */ name) => /^(process|function|file|package|where)/.test(name)
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  const rule = names.map((name) => (isText(name) ? '---' : '---:'))
  return [line(names), line(rule), ...rows.map(line)].join('\n')
}

/** @param {string} text */
function code(text) {
  const clean = printable(text).replaceAll('|', '\\|')
  return clean.includes('`') ? `\`\` ${clean} \`\`` : `\`${clean}\``
}

/** @param {string} text */
function plain(text) {
  return printable(text).replace(/[|\\`*_<[\]]/g, '\\$&')
}

module.exports = { renderMarkdown }
