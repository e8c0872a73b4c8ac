'use strict'

// Finds which messages of the product a spec quotes: the same words, in the same order.

const path = require('node:path')
const ts = require('typescript')

/** @typedef {Record<string, string>} Sources the content of files, by path */
/**
 * @typedef {object} Message
 * @property {string} file the file that has it
 * @property {string[][]} runs its words, cut where a value is filled in
 * @property {Map<string, string>} quotes the words that each file quotes
 */

/** The shortest quote, in words and in characters. What is shorter is a phrase that any text can have. */
const LEAST_WORDS = 4
const LEAST_LENGTH = 21
/** Stands for a value in a text. */
const VALUE = '\0'
const PARSING = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
}
const TEST_MODULE = /#\[cfg\((?:test|any\(test, .*\))\)\]\n *(?:pub(?:\(\w+\))? )?mod (\w+)( \{|;)/g
/** A comment, a string with and without escapes, or a character of Rust. */
const RUST = new RegExp(
  [
    '//.*',
    String.raw`/\*[^]*?\*/`,
    String.raw`r(?<hashes>#*)"(?<raw>[^]*?)"\k<hashes>`,
    String.raw`"(?<text>(?:\\[^]|[^"\\])*)"`,
    String.raw`'(?:\\(?:u\{\w+\}|x..|.)|[^\\'])'`,
  ].join('|'),
  'g',
)

/** Returns the runs of words of a text. @param {string} text */
function runsOf(text) {
  if (text.length < LEAST_LENGTH) return []
  /** @type {string[][]} */
  const runs = [[]]
  for (const token of text.replaceAll(VALUE, ` ${VALUE} `).split(/\s+/)) {
    const word = token.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '').toLowerCase()
    if (word !== '') runs[runs.length - 1].push(word)
    else if (token !== '') runs.push([])
  }
  return runs.filter(({ length }) => length > 0)
}

/** Returns what the strings of a Rust file say, without those of its tests. @param {string} source */
function textsOfRust(source) {
  const tests = [...source.matchAll(TEST_MODULE)].find(([, , start]) => start === ' {')
  return [...source.slice(0, tests?.index).matchAll(RUST)].flatMap(({ groups = {} }) => {
    const text = groups.raw ?? groups.text?.replace(/\\\n\s*/g, '').replace(/\\[nrt]/g, ' ')
    return text === undefined ? [] : [text.replace(/\{[^{}]*\}/g, VALUE).replace(/\\(.)/g, '$1')]
  })
}

/** Returns the files that a Rust file declares as tests, as the starts of their paths. @param {string} file @param {string} source */
function testFilesOf(file, source) {
  const folder = /\/(mod|lib)\.rs$/.test(file)
    ? path.posix.dirname(file)
    : file.replace(/\.rs$/, '')
  return [...source.matchAll(TEST_MODULE)]
    .filter(([, , start]) => start === ';')
    .flatMap(([, name]) => [`${folder}/${name}.rs`, `${folder}/${name}/`])
}

/** Returns what a pattern says. @param {string} pattern without its slashes */
function textOfPattern(pattern) {
  return pattern
    .replace(/\\[bB]/g, '')
    .replace(/\\s/g, ' ')
    .replace(/\\[a-zA-Z\d]|\[(?:\\.|[^\]\\])*\]/g, VALUE)
    .replace(/\\(.)|\.|\(\?[:=!<]*|[()|^$*+]|\{[\d,]*\}/g, (_, escaped) => escaped ?? VALUE)
}

/** Returns what the parts of a template say. @param {ts.TemplateLiteral} template @param {(part: ts.TemplateLiteralLikeNode) => string} of */
const partsOf = (template, of) =>
  ts.isTemplateExpression(template)
    ? [template.head, ...template.templateSpans.map(({ literal }) => literal)].map(of).join(VALUE)
    : of(template)

/** @param {ts.Node} node @returns {node is ts.BinaryExpression} */
const isSum = (node) =>
  ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken

/** @param {ts.Node} called */
const isTest = (called) => ts.isIdentifier(called) && called.text === 'test'

/** Returns what the strings and patterns of a JavaScript file say, without the names of tests. @param {string} source */
function textsOfJavaScript(source) {
  const root = ts.createSourceFile('a.js', source, PARSING)
  /** @type {string[]} */
  const texts = []
  /** Returns what an expression says, and visits the values in it. @param {ts.Node} node @returns {string} */
  const textOf = (node) => {
    if (ts.isStringLiteral(node)) return node.text
    if (ts.isParenthesizedExpression(node)) return textOf(node.expression)
    if (isSum(node)) return textOf(node.left) + textOf(node.right)
    if (ts.isTemplateLiteral(node)) {
      ts.forEachChild(node, visit)
      return partsOf(node, ({ text }) => text)
    }
    visit(node)
    return VALUE
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isTemplateLiteral(node) || isSum(node)) {
      texts.push(textOf(node))
    } else if (ts.isRegularExpressionLiteral(node)) {
      texts.push(textOfPattern(node.text.slice(1, node.text.lastIndexOf('/'))))
    } else if (ts.isTaggedTemplateExpression(node)) {
      ts.forEachChild(node.template, visit)
      texts.push(textOfPattern(partsOf(node.template, ({ rawText = '' }) => rawText)))
    } else if (ts.isCallExpression(node) && isTest(node.expression)) {
      node.arguments.slice(1).forEach(visit)
    } else {
      ts.forEachChild(node, visit)
    }
  }
  visit(root)
  return texts
}

/** Returns the messages of the product's files. A query to a lake is none. @param {Sources} sources @returns {Message[]} */
function messagesOf(sources) {
  const tests = Object.entries(sources).flatMap(([file, source]) =>
    file.endsWith('.rs') ? testFilesOf(file, source) : [],
  )
  return Object.entries(sources)
    .filter(([file]) => !tests.some((start) => file.startsWith(start)))
    .flatMap(([file, source]) =>
      (file.endsWith('.rs') ? textsOfRust(source) : textsOfJavaScript(source))
        .filter((text) => !/\b(SELECT|FROM|WHERE)\b/.test(text))
        .map((text) => ({ file, runs: runsOf(text), quotes: new Map() })),
    )
}

/** Returns the windows of a run, each as one text. @param {string[]} run */
const windowsOf = (run) =>
  run.slice(LEAST_WORDS - 1).map((_, at) => run.slice(at, at + LEAST_WORDS).join(' '))

/**
 * Returns the messages of the product, with who quotes them.
 * @param {Sources} product @param {Sources} files in JavaScript
 */
function findQuotes(product, files) {
  const messages = messagesOf(product)
  /** The messages that have a window. @type {Map<string, Set<Message>>} */
  const having = new Map()
  for (const message of messages) {
    for (const window of message.runs.flatMap(windowsOf))
      having.set(window, (having.get(window) ?? new Set()).add(message))
  }
  for (const [file, source] of Object.entries(files)) {
    for (const run of textsOfJavaScript(source).flatMap(runsOf)) noteQuotes(file, run, having)
  }
  return messages
}

/** Notes what a run of words quotes. @param {string} file @param {string[]} run @param {Map<string, Set<Message>>} having */
function noteQuotes(file, run, having) {
  /** Where the quote of a message began. @type {Map<Message, number>} */
  const begun = new Map()
  const sets = windowsOf(run).map((window) => having.get(window) ?? new Set())
  for (const [at, found] of [...sets, /** @type {Set<Message>} */ (new Set())].entries()) {
    for (const [message, start] of begun) {
      if (found.has(message)) continue
      begun.delete(message)
      const quote = run.slice(start, at + LEAST_WORDS - 1).join(' ')
      if (quote.length >= LEAST_LENGTH) message.quotes.set(file, quote)
    }
    for (const message of found) if (!begun.has(message)) begun.set(message, at)
  }
}

module.exports = { findQuotes }
