'use strict'

// Quotes what stands in commands that people copy into a shell.

const { IS_WINDOWS } = require('../system/index.js')

/** Text that means itself in every POSIX shell. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/
/** What `printable()` would replace. The command would then name another file. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u
/**
 * Text that means itself in cmd.exe and in PowerShell, which splits `a,b`, and `-a.b` before the dot.
 * Non-ASCII letters are plain too.
 */
const PLAIN_ON_WINDOWS = /^(?!-[^=]*[.:])[\p{L}\p{N}_+=:./\\-]+$/u

/** Returns a word for a shell. @param {string} word @param {boolean} [isWindows] */
function quote(word, isWindows = IS_WINDOWS) {
  if (isWindows) return quoteForWindows(word)
  if (PLAIN.test(word)) return word
  if (UNPRINTABLE.test(word)) return `$'${Array.from(Buffer.from(word), escaped).join('')}'`
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** Returns a byte of a word in `$'…'`. @param {number} byte */
function escaped(byte) {
  const char = String.fromCharCode(byte)
  const isPlain = PLAIN.test(char) || char === ' '
  return isPlain ? char : `\\${byte.toString(8).padStart(3, '0')}`
}

/**
 * Returns a word for cmd.exe and PowerShell. Both take double quotes, but no text in them is the same in
 * both if it has a `$`, a backtick (PowerShell replaces it: single quotes) or a double quote (written
 * for cmd.exe; no file name has one).
 * @param {string} word
 */
function quoteForWindows(word) {
  if (PLAIN_ON_WINDOWS.test(word)) return word
  if (/[$`]/.test(word) && !word.includes('"')) return `'${word.replaceAll("'", "''")}'`
  // A program takes a backslash before a quote for an escape.
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`
}

/** Returns a path for a shell, which no program takes for an option. @param {string} file @param {boolean} [isWindows] */
function quotePath(file, isWindows) {
  return quote(file.startsWith('-') ? `./${file}` : file, isWindows)
}

/** Returns a command for a shell. @param {string[]} words @param {boolean} [isWindows] */
function quoteAll(words, isWindows) {
  return words.map((word) => quote(word, isWindows)).join(' ')
}

module.exports = { quote, quotePath, quoteAll }
