'use strict'

// The pages of documentation, and the code in their texts.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PACKAGE } = require('./files.js')

/** @typedef {Record<string, string>} Pages the text of each page, by its path in the repository */
/** @typedef {(file: string) => boolean} Exists whether the repository has a file or folder */

/** Returns a text without its code blocks and code spans. @param {string} text */
const withoutCode = (text) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]+`/g, '``')

/** Returns the code spans outside of code blocks. @param {string} text */
const codeSpans = (text) =>
  [...text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span)

/** Returns the lines of code blocks; a line that ends in a backslash goes on. @param {string} text */
const codeLines = (text) =>
  [...text.matchAll(/^```.*?\n(.*?)^```$/gms)].flatMap(([, block]) =>
    block.replace(/\\\n\s*/g, '').split('\n'),
  )

/** @returns {Pages} */
function repositoryPages() {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
  const { stdout } = spawnSync('git', list, { cwd: PACKAGE, encoding: 'utf8' })
  const files = stdout.split('\n').filter((file) => file !== '' && repositoryHas(file))
  return Object.fromEntries(
    files.map((file) => [file, fs.readFileSync(path.join(PACKAGE, file), 'utf8')]),
  )
}

/** @type {Exists} */
const repositoryHas = (file) => fs.existsSync(path.join(PACKAGE, file))

module.exports = { codeLines, codeSpans, repositoryHas, repositoryPages, withoutCode }
