'use strict'

// Renders a report as Markdown of a limited size, for a pull request or a language model.

const { formatTime } = require('../terminal/format.js')
const { excerptsOf, excerptLines } = require('./code.js')
const { renderMarkdown } = require('./markdown.js')
const { codeSpan, fence, plainText } = require('../terminal/markdown-text.js')
const { renderDetails, renderTree } = require('./paths.js')

/** @typedef {import('../../index.js').Report} Report */

/** Characters of a token: paths and numbers take many tokens. */
const CHARACTERS = 3
/** Rows of the largest report. */
const MAX_ROWS = 40

/**
 * Returns the longest report that fits: with as many rows as possible, and otherwise without its last
 * sections.
 * @param {Report} report with its tree and details
 * @param {{ cwd: string, budget: number, code?: boolean }} view the budget is in tokens
 */
function renderBudget(report, view) {
  const most = view.budget * CHARACTERS
  /** @type {string[]} */
  let sections = []
  for (let rows = MAX_ROWS; rows > 0; rows--) {
    sections = sectionsOf(report, rows, view)
    const text = join(sections)
    if (text.length <= most) return text
  }
  while (sections.length > 1 && join(sections).length > most) sections.pop()
  return join(sections)
}

/** @param {string[]} sections */
const join = (sections) => `${sections.join('\n\n')}\n`

/**
 * Returns the sections, the most telling first.
 * @param {Report} report @param {number} rows @param {{ cwd: string, code?: boolean }} view
 */
function sectionsOf(report, rows, { cwd, code: hasCode }) {
  const plain = { columns: 120, cwd }
  const tables = renderMarkdown(report, { cwd, top: rows }).trimEnd()
  const [summary, ...others] = tables.split(/\n\n(?=### )/)
  const isFirst = (/** @type {string} */ section) => !section.startsWith('### Processes')
  const tree = renderTree(report, { ...plain, rows: 2 * rows }).trimEnd()
  const count = Math.ceil(rows / 8)
  const details = (report.details ?? []).slice(0, count).map((detail) => {
    const text = renderDetails(
      { ...report, details: [detail] },
      { ...plain, rows: Math.min(rows, 8) },
    )
    return fence(text.trimEnd())
  })
  const { excerpts, refusals } = hasCode
    ? excerptsOf(report, count, cwd)
    : { excerpts: [], refusals: [] }
  const codes = excerpts.map((excerpt) => {
    const head = `${codeSpan(excerpt.name)} ${codeSpan(excerpt.place)}, ${formatTime(excerpt.selfMs)} self:`
    return `${head}\n\n${fence(excerptLines(excerpt).join('\n'))}`
  })
  return [
    summary,
    ...others.filter(isFirst),
    `### Heaviest paths\n\n${fence(tree)}`,
    ...titled('Code of the hottest lines', [...codes, ...refusals.map(plainText)]),
    ...titled('Callers and callees of the hottest functions', details),
    ...others.filter((section) => !isFirst(section)),
  ]
}

/** Puts a title before the first of some sections. @param {string} title @param {string[]} sections */
function titled(title, sections) {
  return sections.map((section, index) => (index === 0 ? `### ${title}\n\n${section}` : section))
}

module.exports = { renderBudget, CHARACTERS }
