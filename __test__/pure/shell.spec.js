'use strict'

// Commands that people copy: a shell reads the words that were meant.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const test = require('node:test')
const { printable } = require('../../cli/terminal/format.js')
const { quote, quoteAll, quotePath } = require('../../cli/terminal/shell.js')
const { seededRandom } = require('../helpers/random.js')
const { NEEDS_BASH } = require('../helpers/shell.js')

/** Returns the words that a shell makes of a text. @param {string} shell @param {string} text */
function wordsOf(shell, text) {
  const output = execFileSync(shell, ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' })
  return output.split('\0').slice(0, -1)
}

const WORDS = ['', 'a b', "it's", '~', '=x', 'a=b', '-x', '$HOME', '`id`', '$(id)', '*', '{a,b}']
const MORE = ['a;b', 'a&b', 'a|b', '<a', '#a', '!a', 'a\\b', '"', '日本', 'ü', '(a)', '[a]', '%s']

test('a shell reads every word as it is', () => {
  const words = [...WORDS, ...MORE]
  assert.deepEqual(wordsOf('sh', quoteAll(words)), words)
  assert.equal(quoteAll(['npm', 'run', '--x=1', '@a/b', './c.js']), 'npm run --x=1 @a/b ./c.js')
})

/** Returns the words that a Windows program makes of its command line. @param {string} text */
function argvOf(text) {
  const words = ['']
  let isQuoted = false
  for (const [part, slashes, quote] of text.matchAll(/(\\*)(")|\\+|[^\\"]/g)) {
    const last = words.length - 1
    if (quote === undefined) {
      if (part === ' ' && !isQuoted) words.push('')
      else words[last] += part
      continue
    }
    // Backslashes are escapes only before a double quote.
    words[last] += '\\'.repeat(Math.floor(slashes.length / 2))
    if (slashes.length % 2 === 1) words[last] += quote
    else isQuoted = !isQuoted
  }
  return words
}

test('on Windows, both shells and the program read every word as it is', () => {
  const words = [
    ...WORDS,
    ...MORE,
    'C:\\a b\\',
    'C:\\a\\',
    'a\\"b',
    '\\\\server\\x y',
    'R&D',
    'a,b',
  ]
  const common = words.filter((word) => !/[$`]/.test(word))
  assert.ok(common.length > 20)
  assert.deepEqual(argvOf(quoteAll(common, true)), common)
  for (const [word, expected] of [
    ['C:\\Users\\Jörg\\x-1.json', 'C:\\Users\\Jörg\\x-1.json'],
    ['C:\\Program Files\\x', '"C:\\Program Files\\x"'],
    ['--name=x', '--name=x'],
    // PowerShell: an array, a variable, two words, a home folder.
    ['a,b', '"a,b"'],
    ['@org/x', '"@org/x"'],
    ['-Dx.y', '"-Dx.y"'],
    ['~', '"~"'],
    // PowerShell replaces both in double quotes.
    ["it's $HOME", "'it''s $HOME'"],
    ['`id`', "'`id`'"],
    // cmd.exe: a variable, a second command.
    ['%PATH%', '"%PATH%"'],
    ['a&b', '"a&b"'],
    ['say "hi"', '"say \\"hi\\""'],
  ]) {
    assert.equal(quote(word, true), expected)
  }
  assert.equal(quotePath('-a b', true), '"./-a b"')
})

test('a path is never an option', () => {
  assert.equal(quotePath('-x'), './-x')
  assert.equal(quotePath('-a b'), "'./-a b'")
  assert.equal(quotePath('/a/-x'), '/a/-x')
})

test('control characters are written as bytes, so that printing leaves the name', {
  skip: NEEDS_BASH,
}, (t) => {
  const random = seededRandom(t)
  const below = (/** @type {number} */ limit) => Math.floor(random() * limit)
  const characters = [...'ab \'"\\$\n\t\r\x1b\x7f\x9b\u202e\u2066\u2028ü1;']
  const words = Array.from({ length: 300 }, () =>
    Array.from({ length: below(8) }, () => characters[below(characters.length)]).join(''),
  )
  const text = quoteAll(words)
  assert.equal(printable(text), text)
  assert.deepEqual(wordsOf('bash', text), words)
  assert.equal(quote('a\nb'), "$'a\\012b'")
})
