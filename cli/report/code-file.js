'use strict'

// Reads the files of code that a report names, as far as they may be shown.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { IS_WINDOWS } = require('../system/index.js')
const { isWindowsPath } = require('../terminal/path-text.js')

/** @typedef {{ name: string, line: number, column: number }} Place of a function, from 1 on */
/** @typedef {'outside' | 'another system' | 'another machine' | 'no code' | 'unreadable' | 'changed'} Refusal why a file is not shown */

/** Larger files are bundles: bytes. */
const MAX_FILE = 20_000_000
/** What is read for one report: bytes. */
const MAX_ALL = 10 * MAX_FILE

/** Endings of code that Node or a transpiler runs; other files can hold secrets. */
const CODE = /\.(m?js|cjs|jsx|es6?|[mc]?ts|tsx|vue|svelte|astro|mdx|coffee|g[jt]s)$/i
/** The first line of a script without an ending. */
const SCRIPT = /^#!.*\b(node|tsx|bun|deno)\b/
/** The ends of lines that V8 counts. */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/
/** Names that V8 gives to code of classes without a name of its own. */
const OF_CLASSES = new Set(['<instance_members_initializer>', '<static_initializer>'])
const WITHOUT_NAME = /^$|^\(anonymous\)$|^callback of |<computed>$/

/**
 * Returns the folder below which files are shown: the repository that the command runs in, or the
 * outermost package, or the working directory.
 * @param {string} cwd
 */
function projectFolder(cwd) {
  if (cwd === '') return undefined
  const start = fs.realpathSync(cwd)
  /** @type {string[]} */
  const above = []
  for (let folder = start; !above.includes(folder); folder = path.dirname(folder))
    above.push(folder)
  const has = (/** @type {string} */ name) => (/** @type {string} */ folder) =>
    fs.existsSync(path.join(folder, name))
  return above.find(has('.git')) ?? above.reverse().find(has('package.json')) ?? start
}

/**
 * Reads files of one project, each once. Anybody can have written a recording, so that it names any
 * file: only code is read, and only below a folder that the recording does not choose. Even to look
 * whether a file of a network share exists would send the user's credentials to its server.
 * @param {string | undefined} project
 */
function codeFiles(project) {
  /** @type {Map<string, string[] | Refusal>} */
  const known = new Map()
  let left = MAX_ALL
  /** @param {string} file @returns {string[] | Refusal} */
  const read = (file) => {
    if (!loadTools().cpuProfIsLocalFile(file)) {
      const isOfSystem = isWindowsPath(file) === IS_WINDOWS
      return isOfSystem || file.startsWith('//') ? 'another machine' : 'another system'
    }
    const { real, isWhole } = placeOf(file)
    const isOutside = real === undefined || project === undefined
    if (isOutside || (real !== project && !isBelow(real, project))) return 'outside'
    if (!isWhole) return 'unreadable'
    if (path.extname(real) !== '' && !CODE.test(real)) return 'no code'
    const text = loadTools().cpuProfReadRegularFile(real, Math.min(MAX_FILE, left))
    if (text === null) return 'unreadable'
    left -= text.length
    if (path.extname(real) === '' && !SCRIPT.test(text)) return 'no code'
    return text.split(LINE_END)
  }
  /** Returns the lines of a file. @param {string} file */
  return (file) => {
    const lines = known.get(file) ?? read(file)
    known.set(file, lines)
    return lines
  }
}

/**
 * Returns where a path leads, without links, and whether something is there. What is not there has the place of the
 * nearest folder that is: so an answer about a place says nothing about what is elsewhere. A link that leads nowhere
 * has no place.
 * @param {string} file @returns {{ real?: string, isWhole: boolean }}
 */
function placeOf(file) {
  let place = file
  while (!isThere(place) && place !== path.dirname(place)) place = path.dirname(place)
  try {
    return { real: fs.realpathSync(place), isWhole: place === file }
  } catch {
    return { isWhole: false }
  }
}

/** Returns whether a path is there, also a link that leads nowhere. @param {string} file */
function isThere(file) {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** @param {string} file @param {string} folder both of this system */
function isBelow(file, folder) {
  const relative = path.relative(folder, file)
  const isAbove = relative === '..' || relative.startsWith(`..${path.sep}`)
  return relative !== '' && !isAbove && !path.isAbsolute(relative)
}

/**
 * Returns whether a function of the recording is at its place in a file. Otherwise, the file is not
 * the code that ran.
 * @param {Place} place @param {string[]} lines of the file
 */
function isAt({ name, line, column }, lines) {
  const text = lines[line - 1]
  if (text === undefined) return false
  // The code of a module itself has no other place, and no head.
  const isModule = line === 1 && column <= 1 && WITHOUT_NAME.test(name)
  if (isModule || OF_CLASSES.has(name)) return true
  if (WITHOUT_NAME.test(name)) return /\(|=>|\bfunction\b|\bclass\b/.test(text.slice(column - 1))
  const [, last] = /(?:^|[. #[])([\p{ID_Continue}$]+)\]?$/u.exec(name) ?? []
  if (last === undefined) return false
  // The name can stand on the line before the parameters. A class runs as its constructor.
  const words = `${lines[line - 2] ?? ''} ${text}`.match(/[\p{ID_Continue}$]+/gu) ?? []
  return words.some((word) => word === last || word === 'constructor')
}

module.exports = { projectFolder, codeFiles, isAt, isBelow, placeOf }
