'use strict'

// Runs as a lake's store takes them: small files, whose contents do not matter.

const fs = require('node:fs')
const path = require('node:path')
const { TABLES } = require('../../lake/schema.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')

/** @param {number} number */
const hex = (number) => number.toString(16).padStart(16, '0')

/** Returns the stem of a run with some contents. @param {number} run @param {number} [content] */
const stemOf = (run, content = 1) => `${hex(run)}-${hex(content)}`

/** Returns the stem of compacted runs. @param {number} content */
const compactedStem = (content) => `c-${hex(content)}`

/**
 * Writes the files of a run into a new folder. Each has the name of its table, the text, and zeros.
 * @param {string} [text] @param {number} [bytes] of zeros
 */
function runFolder(text = '', bytes = 0) {
  const dir = temporaryDirectory()
  for (const table of TABLES) {
    const parts = [Buffer.from(`${table} ${text}`), Buffer.alloc(bytes)]
    fs.writeFileSync(path.join(dir, `${table}.parquet`), Buffer.concat(parts))
  }
  return dir
}

/**
 * Returns what `addRun` takes.
 * @param {number} run @param {number} [content] @param {object} [more]
 */
function runOf(run, content = 1, more = {}) {
  const stem = stemOf(run, content)
  return { repo: 'org/app', date: '2026-01-31', stem, folder: runFolder(stem), ...more }
}

/** Returns the stems of files, sorted. @param {string[]} files */
const stemsOf = (files) => files.map((file) => path.basename(file, '.parquet')).sort()

/** Returns all files below a folder, relative to it. @param {string} dir */
function filesBelow(dir) {
  const entries = fs.readdirSync(dir, { recursive: true, encoding: 'utf8' })
  return entries.filter((entry) => fs.statSync(path.join(dir, entry)).isFile()).sort()
}

module.exports = { TABLES, stemOf, compactedStem, runFolder, runOf, stemsOf, filesBelow }
