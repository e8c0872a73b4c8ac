'use strict'

// Formats names and paths for people, and numbers.

const fs = require('node:fs')
const path = require('node:path')
const { isAbsolutePath, isWindowsPath } = require('./path-text.js')
const units = require('./units.js')

/** Returns the folder that shown paths are relative to; empty if it no longer exists. */
function workingDirectory() {
  try {
    // Node caches the path, and the recorded command can have removed the folder.
    const cwd = process.cwd()
    return fs.existsSync(cwd) ? cwd : ''
  } catch {
    return ''
  }
}

/**
 * Returns a path, relative where that is shorter. A path of another system has nothing in common with
 * `cwd`. A path keeps the kind of its separators.
 * @param {string} file @param {string} cwd
 */
function formatPath(file, cwd) {
  const isWindows = isWindowsPath(file)
  if (cwd === '' || !isAbsolutePath(file) || isWindowsPath(cwd) !== isWindows) return file
  const between = (isWindows ? path.win32 : path.posix).relative(cwd, file)
  const relative = isWindows && !file.includes('\\') ? between.replaceAll('\\', '/') : between
  return relative !== '' && relative.length < file.length ? relative : file
}

/**
 * Returns `src/a.js:12`, or `src/a.js (eval) VM86:1` with V8's id of a text that the file compiled.
 * @param {{ file: string, line: number, scriptId?: number }} place @param {string} cwd
 */
function formatPlace({ file, line, scriptId }, cwd) {
  if (file === '') return '(native)'
  const text = scriptId === undefined ? '' : ` VM${scriptId}`
  return `${formatPath(file, cwd)}${text}${line > 0 ? `:${line}` : ''}`
}

/** Line separators, control characters beyond ASCII, and those that change the direction of text. */
const CONFUSING = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Returns a text on one line, without control characters, and without those that change the
 * direction of what follows.
 * @param {string} text
 */
function printable(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are removed
  return text.replace(/[\x00-\x1f]/g, ' ').replace(CONFUSING, ' ')
}

/**
 * Returns a value as JSON. The characters of names that would control a terminal, or change the
 * direction of what follows, are escaped: a parser gets the same value.
 * @param {unknown} value
 */
function jsonText(value) {
  const escaped = (/** @type {string} */ character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(value, null, 2).replace(CONFUSING, escaped)}\n`
}

module.exports = {
  ...units,
  jsonText,
  workingDirectory,
  formatPath,
  formatPlace,
  printable,
}
