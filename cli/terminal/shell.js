'use strict'

// Quotes what stands in commands that people copy into a POSIX shell.

/** Text that means itself in every shell. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/
/** What `printable()` would replace. The command would then name another file. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Returns a word for a shell. @param {string} word */
function quote(word) {
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

/** Returns a path for a shell, which no program takes for an option. @param {string} file */
function quotePath(file) {
  return quote(file.startsWith('-') ? `./${file}` : file)
}

/** Returns a command for a shell. @param {string[]} words */
function quoteAll(words) {
  return words.map(quote).join(' ')
}

module.exports = { quote, quotePath, quoteAll }
