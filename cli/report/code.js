'use strict'

// Takes the code of the hottest lines out of their files.

const { formatPath, formatPlace, formatTime, printable } = require('../terminal/format.js')
const { isAbsolutePath } = require('../terminal/path-text.js')
const { codeFiles, isAt, projectFolder } = require('./code-file.js')

/** @typedef {import('../../index.js').ReportLine} Line */
/**
 * @typedef {object} Excerpt the hottest lines of a function
 * @property {string} name
 * @property {string} place
 * @property {string} file its path as recorded
 * @property {number} selfMs of all its lines
 * @property {{ number: number, text: string, selfMs: number }[]} code in the order of the file
 */

/** Functions whose code a page has. */
const PAGE_EXCERPTS = 60
/** Lines that are shown before and after a hot line. */
const AROUND = 1
/** Hot lines of a function that are shown. */
const HOT_LINES = 4
/** A line with less than this part of its function's time is not hot. */
const ENOUGH = 0.05
/** Files that are named where code is not shown. */
const NAMED = 3
/** Longest line that is shown, in characters: the rest of a minified line says nothing. */
const MAX_LINE = 160

/**
 * Returns excerpts of the functions with the hottest lines, and why those of others are not shown.
 * @param {import('../../index.js').Report} report @param {number} count @param {string} cwd
 * @param {string} [project] the folder below which code is shown
 * @returns {{ excerpts: Excerpt[], refusals: string[] }}
 */
function excerptsOf({ lines, functions, details = [] }, count, cwd, project = projectFolder(cwd)) {
  /** @type {Map<string, Line[]>} */
  const groups = new Map()
  for (const line of lines) {
    if (line.line === 0 || line.scriptId !== undefined || !isAbsolutePath(line.file)) continue
    const key = `${line.name}\n${line.file}`
    groups.set(key, [...(groups.get(key) ?? []), line])
  }
  const linesOf = codeFiles(project)
  const places = [...functions, ...details]
  /** @type {Excerpt[]} */
  const excerpts = []
  /** @type {Map<import('./code-file.js').Refusal, Set<string>>} */
  const refused = new Map()
  for (const group of [...groups.values()].sort((a, b) => sumOf(b) - sumOf(a))) {
    if (excerpts.length === count) break
    const [{ name, file }] = group
    const text = linesOf(file)
    const candidates = places.filter((each) => each.name === name && each.file === file)
    const excerpt = typeof text === 'string' ? text : excerptOf(group, candidates, text, cwd)
    if (typeof excerpt !== 'string') excerpts.push(excerpt)
    else refused.set(excerpt, (refused.get(excerpt) ?? new Set()).add(formatPath(file, cwd)))
  }
  const refusals = Array.from(refused, ([why, files]) => refusalOf(why, [...files], project))
  return { excerpts, refusals }
}

/** @param {import('./code-file.js').Refusal} why @param {string[]} files @param {string} [project] */
function refusalOf(why, files, project) {
  const shown = files.slice(0, NAMED).join(', ')
  const list = files.length > NAMED ? `${shown} and ${files.length - NAMED} more` : shown
  const reasons = {
    outside: `outside of ${project ?? 'a project'}; to see it, run the command in the project of the recording`,
    'another system': 'paths of another system; to see it, run the command where it was recorded',
    'another machine':
      'not on a local disk; what a recording names is not opened on other machines',
    'no code': 'not the ending of code',
    unreadable: 'no file that can be read, or too large',
    changed: 'functions are not where they were recorded: the file has changed, or is another',
  }
  return printable(`code that is not shown: ${list} (${reasons[why]})`)
}

/**
 * @param {Line[]} lines of one function @param {import('../../index.js').ReportPlace[]} candidates places of
 *   functions of this name @param {string[]} text of the file @param {string} cwd
 * @returns {Excerpt | 'changed'}
 */
function excerptOf(lines, candidates, text, cwd) {
  const [{ name, file }] = lines
  const isCode = !lines[0].transpiled && candidates.some((place) => isAt(place, text))
  if (!isCode) return 'changed'
  // V8 counts lines of inlined functions, which can be those of longer files.
  const inFile = lines.filter(({ line }) => line <= text.length)
  const selfMs = sumOf(inFile)
  const hot = inFile.filter((line) => line.selfMs >= ENOUGH * selfMs).slice(0, HOT_LINES)
  // An empty line does not run.
  if (hot.length === 0 || hot.some(({ line }) => text[line - 1].trim() === '')) return 'changed'
  const times = new Map(inFile.map((line) => [line.line, line.selfMs]))
  const shown = new Set(hot.flatMap(({ line }) => around(line, text.length)))
  const code = [...shown]
    .sort((a, b) => a - b)
    .map((number) => ({ number, text: cut(text[number - 1]), selfMs: times.get(number) ?? 0 }))
  const known = new Set(candidates.map(({ line }) => line))
  const place = formatPlace({ file, line: known.size === 1 ? candidates[0].line : 0 }, cwd)
  return { name: printable(name), place: printable(place), file, selfMs, code }
}

/** @param {Line[]} lines */
const sumOf = (lines) => lines.reduce((sum, { selfMs }) => sum + selfMs, 0)

/** @param {number} line @param {number} count of the file's lines */
function around(line, count) {
  const from = Math.max(1, line - AROUND)
  const to = Math.min(count, line + AROUND)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** @param {string} text */
function cut(text) {
  const line = printable(text.replaceAll('\t', '  '))
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line
}

/** Renders an excerpt as plain lines: time, number, code. @param {Excerpt} excerpt */
function excerptLines({ code }) {
  const width = String(code[code.length - 1]?.number ?? 0).length
  return code.flatMap(({ number, text, selfMs }, index) => {
    const time = selfMs > 0 ? formatTime(selfMs) : ''
    const isGap = index > 0 && number > code[index - 1].number + 1
    const line = `${time.padStart(8)}  ${String(number).padStart(width)}  ${text}`
    return isGap ? [`${''.padStart(8)}  ${'…'.padStart(width)}`, line.trimEnd()] : [line.trimEnd()]
  })
}

/** Renders excerpts for a terminal. @param {ReturnType<typeof excerptsOf>} found */
function renderExcerpts({ excerpts, refusals }) {
  const blocks = excerpts.map((excerpt) => {
    const lines = excerptLines(excerpt).map((line) => `  ${line}`)
    return `  ${excerpt.name}  ${excerpt.place}\n${lines.join('\n')}\n`
  })
  const title = 'code of the hottest lines, with their self time'
  const shown = blocks.length > 0 ? `\n${title}\n${blocks.join('\n')}` : ''
  if (refusals.length > 0) return `${shown}\n${refusals.join('\n')}\n`
  return shown || '\nno code: no line of a file was sampled\n'
}

/**
 * Adds the code of the hottest lines to the data of a page.
 * @param {string} page JSON @param {import('../../index.js').Report} report @param {string} cwd
 */
function withCode(page, report, cwd) {
  const { excerpts, refusals } = excerptsOf(report, PAGE_EXCERPTS, cwd)
  /** @type {Map<string, Record<number, string>>} */
  const files = new Map()
  for (const { file, code } of excerpts) {
    const lines = files.get(file) ?? {}
    for (const { number, text } of code) lines[number] = text
    files.set(file, lines)
  }
  const code = Array.from(files, ([file, lines]) => ({ file, lines }))
  // The page can be too long a text to be parsed for this.
  const end = JSON.stringify({ code, codeNotes: refusals })
  return `${page.slice(0, page.lastIndexOf('}'))},${end.slice(1)}`
}

module.exports = { excerptsOf, excerptLines, renderExcerpts, withCode }
