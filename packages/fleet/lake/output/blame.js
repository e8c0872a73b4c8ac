'use strict'

// Renders the commits at which something has changed: as text, Markdown and a page.

const { formatCount, formatShare, formatTime, printable } =
  require('@org/cpu-prof/own-packages').format
const { codeCell, heading, plainText, table } = require('@org/cpu-prof/own-packages').markdownText
const { quote } = require('@org/cpu-prof/own-packages').shell
const { cutEnd, wrapWords } = require('@org/cpu-prof/own-packages').width
const { htmlPage, htmlTable, named } = require('./page.js')

/** @typedef {import('../blame.js').Answer} Answer */
/** @typedef {import('../blame.js').Blamed} Blamed */
/** @typedef {import('../blame.js').Change} Change */

/** Changes that are shown of each commit. */
const ROWS = 10
/** Candidates that are named. */
const NAMED = 4
/** Characters of a hash that stand for it in a command. */
const SHORT = 12
const HEADS = ['change', 'before', 'after', 'runs']

/** Returns a part with its sign. @param {number} part */
const signed = (part) => `${part < 0 ? '−' : '+'}${(100 * Math.abs(part)).toFixed(1)}%`

/** Returns the result in a sentence. @param {Answer} answer */
function verdict({ commits, runs, positions, enough, leastRuns, rows }) {
  const data = `${formatCount(runs, 'run')} of ${formatCount(positions, 'commit')}`
  if (!enough) {
    return `${data} cannot tell a change: each side needs ${leastRuns} runs, and two commits; add more runs`
  }
  const what = commits.length === 0 ? 'no commit' : formatCount(commits.length, 'commit')
  return `${what} changed something beyond the noise: ${data}, ${formatCount(rows, 'row')}`
}

/** Returns sentences about what was not found, and what changes slowly. @param {Answer} answer */
function remarks({ detectable, drifts, unclear, notes, absolute }) {
  const lines = [...notes]
  if (detectable !== null) {
    const { name, share, step } = detectable
    lines.push(
      `in these runs, a step of ${(100 * step).toFixed(0)}% in ${name} (${formatShare(share, 1)} of the work) would be found nearly always`,
    )
  }
  if (drifts.length > 0) {
    const list = drifts.map(({ name, relative }) => `${name} ${signed(relative)}`)
    lines.push(`slow changes, of which no commit is the cause: ${list.join(', ')}`)
  }
  if (unclear.length > 0) {
    const names = unclear.slice(0, NAMED).map(({ name }) => name)
    if (unclear.length > NAMED) names.push(`${unclear.length - NAMED} more`)
    lines.push(
      `no commit is told for ${names.join(', ')}: its time changed, but no further than machines drift that are slow for many runs; more commits, or runs in turn on one machine, would tell`,
    )
  }
  if (!absolute) {
    lines.push(
      'times are for a run of the usual length, with the effect of a change on the shares of others taken out',
    )
  }
  return lines
}

/** @param {Change} change */
function cellsOf({ outcome, relative, error, beforeMs, afterMs, runsBefore, runsAfter }) {
  const size = `${signed(relative)} ±${(100 * error).toFixed(1)}%`
  const change = outcome === 'changed' ? size : outcome
  return [change, formatTime(beforeMs), formatTime(afterMs), `${runsBefore} + ${runsAfter}`]
}

/** @param {Change} change */
function nameOf({ kind, name, was }) {
  const word = kind === 'function' || kind === 'whole' ? '' : `${kind} `
  return `${word}${name}${was === undefined ? '' : ` (was ${was})`}`
}

/** Returns what else can be the commit. @param {Blamed} blamed */
function doubtOf({ candidates, name, between }) {
  const others = candidates.filter((one) => one.name !== name)
  const list = others.slice(0, NAMED).map(({ name, chance }) => `${name} ${formatShare(chance, 1)}`)
  if (others.length > NAMED) list.push(`${others.length - NAMED} more`)
  const [own] = candidates.filter((one) => one.name === name)
  const lines =
    list.length === 0 ? [] : [`chance ${formatShare(own?.chance ?? 0, 1)}; or ${list.join(', ')}`]
  if (between > 0) {
    lines.push(`or one of the ${formatCount(between, 'commit')} before it, which have no run`)
  }
  return lines
}

/** Returns the start of a hash, which selectors take; other names as they are. @param {string} commit */
const shortHash = (commit) => (/^[\da-f]{40,64}$/.test(commit) ? commit.slice(0, SHORT) : commit)

/** Returns what to do next. @param {Answer} answer @param {Blamed} blamed */
function nextOf({ lake }, { commit, before }) {
  if (commit === null || before === null) return ''
  const [base, head] = [before, commit].map((hash) => quote(`commit=${shortHash(hash)}`))
  const sides = `--base ${base} --head ${head}`
  return `cpu-prof lake compare ${quote(lake)} ${sides}`
}

/** @param {Answer} answer @param {import('../ask.js').Screen} screen @param {number} [top] */
function text(answer, { columns }, top = ROWS) {
  const wrapped = (/** @type {string[]} */ sentences) =>
    sentences.flatMap((line) => wrapWords(printable(line), columns))
  const lines = wrapped([verdict(answer), ...remarks(answer)])
  for (const blamed of answer.commits) {
    const doubt = doubtOf(blamed).map((line) => `  ${line}`)
    lines.push('', ...wrapped([blamed.name, ...doubt]))
    for (const change of blamed.changes.slice(0, top)) {
      const [size, before, after, runs] = cellsOf(change)
      const numbers = `  ${size.padEnd(16)} ${before.padStart(8)} → ${after.padEnd(8)}  ${runs.padEnd(11)}`
      const what = `${cutEnd(printable(nameOf(change)), 40)}  ${printable(change.place)}`
      lines.push(cutEnd(`${numbers}  ${what}`.trimEnd(), columns))
    }
    if (blamed.changes.length > top) lines.push(`  and ${blamed.changes.length - top} more (--top)`)
    const next = nextOf(answer, blamed)
    // A command is whole, so that it can be copied.
    if (next !== '') lines.push(printable(`  next: ${next}`))
  }
  return `${lines.join('\n')}\n`
}

/** @param {Answer} answer */
function markdown(answer) {
  const blocks = [heading(plainText(verdict(answer))), ...remarks(answer).map(plainText)]
  for (const blamed of answer.commits) {
    const rows = blamed.changes.map((change) => {
      const place = change.place === '' ? '' : ` ${codeCell(change.place)}`
      return [`${codeCell(nameOf(change))}${place}`, ...cellsOf(change)]
    })
    blocks.push(heading(plainText(blamed.name)), ...doubtOf(blamed).map(plainText))
    blocks.push(table(['what'], HEADS, rows))
  }
  return `${blocks.join('\n\n')}\n`
}

/** @param {Answer} answer */
function html(answer) {
  const sections = answer.commits.map((blamed) => {
    const rows = blamed.changes.map((change) => [
      named(nameOf(change), change.place),
      ...cellsOf(change),
    ])
    const doubt = doubtOf(blamed).join('; ')
    return {
      title: doubt === '' ? blamed.name : `${blamed.name} (${doubt})`,
      content: htmlTable(['what'], HEADS, rows),
    }
  })
  return htmlPage({ title: verdict(answer), lines: remarks(answer), sections })
}

module.exports = { text, markdown, html }
