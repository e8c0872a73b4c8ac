'use strict'

// Puts texts that anybody can have written into Markdown: each stays a text, in its own cell.

const { printable } = require('./format.js')

const PUNCTUATION = /[!-/:-@[-`{-~]/g
/**
 * What Markdown or GitHub reads in a word: emphasis, HTML, links, tables, mathematics, `@name`, `#12`, `GH-12`,
 * `:smile:`, addresses and commits. A place (`a.js:12`) is none of these.
 */
const IS_READ = /[!#$&*<>@[\\\]^_`{|}~]|:(?!\d|$)|:.*:|^(?:www\.|gh-\d|[\da-f]{7,40}$)/i
/** A first word that begins a list or another block. */
const IS_BLOCK = /^[^\p{L}\p{N}"'(]|^\d+[.)]$/u
/** Punctuation around a word, which stays outside of code. Each run is looked at once. */
const [OPENING, CLOSING] = [/^[("']+/, /(?<![)"',.;])[)"',.;]+$/]

/**
 * Returns a text as code. The marks are longer than any in the text. A space is taken off both ends
 * where both have one, and keeps marks of the text apart from ours.
 * @param {string} text
 */
function codeSpan(text) {
  const clean = printable(text)
  if (clean === '') return ''
  const marks = '`'.repeat(longestRun(clean) + 1)
  const needsSpaces = /^`|`$|^ .*[^ ].* $/.test(clean)
  return needsSpaces ? `${marks} ${clean} ${marks}` : `${marks}${clean}${marks}`
}

/**
 * Returns a text as code in a cell of a table. Code with a backslash before a `|` cannot stand there in
 * backticks: GitHub reads the two backslashes as one, and the `|` as the end of the cell.
 * @param {string} text
 */
function codeCell(text) {
  if (!/\\\|/.test(text)) return codeSpan(text).replaceAll('|', '\\|')
  const escaped = printable(text).replace(PUNCTUATION, (mark) => `&#${mark.charCodeAt(0)};`)
  return `<code>${escaped}</code>`
}

/**
 * Returns a text as a part of a sentence. Words that would be read as more than text become code: GitHub
 * links `@name` and `#12` even behind a backslash.
 * @param {string} text
 */
function plainText(text) {
  return printable(text)
    .trimStart()
    .replace(/\S+/g, (word, /** @type {number} */ at) => {
      if (at === 0 && IS_BLOCK.test(word)) return codeSpan(word)
      const [[open], [close]] = [word.match(OPENING) ?? [''], word.match(CLOSING) ?? ['']]
      const inner = word.slice(open.length, word.length - close.length)
      return IS_READ.test(inner) ? `${open}${codeSpan(inner)}${close}` : word
    })
}

/** Returns lines as a block of code, whose fence is longer than any in the lines. @param {string} text */
function fence(text) {
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${marks}\n${text}\n${marks}`
}

/** Returns a title as a heading. @param {string} title */
function heading(title) {
  return `### ${title[0].toUpperCase()}${title.slice(1)}`
}

/** Returns the length of the longest run of backticks. @param {string} text */
const longestRun = (text) =>
  (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0)

/**
 * @param {string[]} texts heads of the left-aligned columns
 * @param {string[]} numbers heads of the right-aligned columns
 * @param {string[][]} rows
 */
function table(texts, numbers, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`
  const rule = [...texts.map(() => '---'), ...numbers.map(() => '---:')]
  return [line([...texts, ...numbers]), line(rule), ...rows.map(line)].join('\n')
}

module.exports = { codeSpan, codeCell, plainText, fence, heading, table }
