'use strict'

// Reads the command lines of Node processes.

const path = require('node:path')
const { loadTools } = require('../../lib/addon.js')
const { formatPath } = require('../terminal/format.js')

/** Options whose value is the next word. */
const WITH_VALUE = ['-r', '--require', '--import', '-C', '--conditions', '--loader', '--title']
/** The beginning of a path that leaves the folder, before the last three names. */
const LONG_PATH = /^(?:\/|\.\.\/).*(?=(\/[^/]+){3}$)/

/** Returns a command line with the ends of long paths, and without secrets. @param {string[]} words @param {string} cwd */
function commandOf(words, cwd) {
  const [file, ...args] = loadTools().cpuProfCommand(words, scriptAt(words))
  const shown = args.map((/** @type {string} */ arg) =>
    formatPath(arg, cwd).replace(LONG_PATH, '…'),
  )
  return [path.basename(file), ...shown].join(' ')
}

/** Returns the place of the script among the words of a command; the count of the words without one. @param {string[]} words */
function scriptAt(words) {
  let at = 1
  while (at < words.length && words[at].startsWith('-'))
    at += WITH_VALUE.includes(words[at]) ? 2 : 1
  return at
}

module.exports = { commandOf, scriptAt }
