'use strict'

// Takes the code of the hottest lines out of their files.

const fs = require('node:fs')
const { formatPlace, formatTime, printable } = require('../terminal/format.js')

/** @typedef {import('../../index.js').ReportLine} Line */
/**
 * @typedef {object} Excerpt the hottest lines of a function
 * @property {string} name
 * @property {string} place
 * @property {number} selfMs of all its lines
 * @property {{ number: number, text: string, selfMs: number }[]} code in the order of the file
 */

/** Lines that are shown before and after a hot line. */
const AROUND = 1
/** Hot lines of a function that are shown. */
const HOT_LINES = 4
/** A line with less than this part of its function's time is not hot. */
const ENOUGH = 0.05
/** Larger files are bundles: bytes. */
const MAX_FILE = 20_000_000
/** Longest line that is shown, in characters: the rest of a minified line says nothing. */
const MAX_LINE = 160

/**
 * Returns excerpts of the functions with the hottest lines, without those whose code cannot be read or
 * has changed.
 * @param {import('../../index.js').Report} report @param {number} count @param {string} cwd
 * @returns {Excerpt[]}
 */
function excerptsOf({ lines, functions }, count, cwd) {
  /** @type {Map<string, Line[]>} */
  const groups = new Map()
  for (const line of lines) {
    if (line.line === 0 || line.transpiled || line.file === '') continue
    const key = `${line.name}\n${line.file}`
    groups.set(key, [...(groups.get(key) ?? []), line])
  }
  const hottest = [...groups.values()].sort((a, b) => sumOf(b) - sumOf(a))
  /** @type {Excerpt[]} */
  const excerpts = []
  for (const group of hottest) {
    if (excerpts.length === count) break
    const excerpt = excerptOf(group, functions, cwd)
    if (excerpt !== undefined) excerpts.push(excerpt)
  }
  return excerpts
}

/**
 * @param {Line[]} lines of one function @param {import('../../index.js').ReportFunction[]} functions
 * @param {string} cwd @returns {Excerpt | undefined}
 */
function excerptOf(lines, functions, cwd) {
  const [{ name, file }] = lines
  const text = read(file)
  if (text === undefined) return undefined
  const own = functions.filter((each) => each.name === name && each.file === file)
  if (own.length > 0 && !own.some(({ line }) => isAt(name, text[line - 1]))) return undefined
  // V8 counts lines of inlined functions, which can be those of longer files.
  const inFile = lines.filter(({ line }) => line <= text.length)
  const selfMs = sumOf(inFile)
  const hot = inFile.filter((line) => line.selfMs >= ENOUGH * selfMs).slice(0, HOT_LINES)
  // An empty line does not run: the file has changed.
  if (hot.length === 0 || hot.some(({ line }) => text[line - 1].trim() === '')) return undefined
  const times = new Map(inFile.map((line) => [line.line, line.selfMs]))
  const shown = new Set(hot.flatMap(({ line }) => around(line, text.length)))
  const code = [...shown]
    .sort((a, b) => a - b)
    .map((number) => ({ number, text: cut(text[number - 1]), selfMs: times.get(number) ?? 0 }))
  const place = formatPlace({ file, line: own.length === 1 ? own[0].line : 0 }, cwd)
  return { name: printable(name), place: printable(place), selfMs, code }
}

/** @param {Line[]} lines */
const sumOf = (lines) => lines.reduce((sum, { selfMs }) => sum + selfMs, 0)

/** @param {number} line @param {number} count of the file's lines */
function around(line, count) {
  const from = Math.max(1, line - AROUND)
  const to = Math.min(count, line + AROUND)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Returns the lines of a file, if there is one. A recording can name a device. @param {string} file */
function read(file) {
  try {
    const stat = fs.statSync(file)
    if (!stat.isFile() || stat.size > MAX_FILE) return undefined
    return fs.readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return undefined
  }
}

/**
 * Returns whether a line can be the start of a function: if the file has changed since, the name is
 * elsewhere.
 * @param {string} name @param {string | undefined} line
 */
function isAt(name, line) {
  if (line === undefined) return false
  const last = name.split('.').pop() ?? ''
  return !/^[\w$]+$/.test(last) || line.includes(last)
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

/** Renders excerpts for a terminal. @param {Excerpt[]} excerpts */
function renderExcerpts(excerpts) {
  if (excerpts.length === 0) return ''
  const blocks = excerpts.map((excerpt) => {
    const lines = excerptLines(excerpt).map((line) => `  ${line}`)
    return `  ${excerpt.name}  ${excerpt.place}\n${lines.join('\n')}\n`
  })
  return `\ncode of the hottest lines, with their self time\n${blocks.join('\n')}`
}

module.exports = { excerptsOf, excerptLines, renderExcerpts }
