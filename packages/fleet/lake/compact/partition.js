'use strict'

// Compacts one day of a repository.

const fs = require('node:fs')
const path = require('node:path')
const { withFolder } = require('../../base/folder.js')
const { TABLES, rewrite } = require('./rewrite.js')

/** How often a day is read again where others change it meanwhile. */
const ATTEMPTS = 3

/** @typedef {import('../../base/store.js').Store} Store */
/** @typedef {{ repo: string, date: string }} Day */
/**
 * @typedef {object} Compacted
 * @property {'compacted' | 'alone' | 'busy'} outcome `alone`: there is one file at most; `busy`: others change
 *   the day all the time
 * @property {number} [files] count of those that became one
 * @property {number} [runs] count of runs in the new file
 * @property {number} [before] bytes of all tables
 * @property {number} [after]
 */

/**
 * Makes one file a table of a day. Throws if a file cannot be read: then the day stays as it is.
 * @param {Store} store @param {Day} day @returns {Promise<Compacted>}
 */
async function compactDay(store, day) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const live = await liveOf(store, day)
    if (live === undefined || live.stems.length < 2) return { outcome: 'alone' }
    const { stems, files, nextChange } = live
    try {
      const result = await withFolder(async (folder) => {
        const salt = JSON.stringify([day, nextChange, stems])
        const { stem, runs } = await rewrite(sourcesOf(stems, files), folder, salt)
        const adds = [{ stem, folder }]
        const { committed } = await store.commit({
          ...day,
          number: nextChange,
          adds,
          replaces: stems,
        })
        const all = TABLES.flatMap((table) => files[table])
        const written = TABLES.map((table) => `${folder}/${table}.parquet`)
        return {
          committed,
          files: stems.length,
          runs,
          before: bytesOf(all),
          after: bytesOf(written),
        }
      })
      const { committed, ...counts } = result
      if (committed) return { outcome: 'compacted', ...counts }
    } catch (error) {
      // Another compaction, and its sweep, can have removed what was read.
      const again = await liveOf(store, day)
      if (again === undefined || again.nextChange === nextChange) throw error
    }
  }
  return { outcome: 'busy' }
}

/**
 * Returns what is live of a day; undefined if nothing is.
 * @param {Store} store @param {Day} day
 */
async function liveOf(store, { repo, date }) {
  const { partitions, files } = await store.live({ repo, from: date, to: date, tables: TABLES })
  const [partition] = partitions
  return partition && { ...partition, files }
}

/**
 * Returns the files of each stem, in the order of the stems.
 * @param {string[]} stems @param {Record<string, string[]>} files by table
 * @returns {import('./rewrite.js').Source[]}
 */
function sourcesOf(stems, files) {
  const named = TABLES.map((table) => {
    return {
      table,
      paths: new Map(files[table].map((file) => [path.basename(file, '.parquet'), file])),
    }
  })
  return stems.map((stem) =>
    Object.fromEntries(named.map(({ table, paths }) => [table, paths.get(stem)])),
  )
}

/** @param {string[]} files */
function bytesOf(files) {
  return files.reduce(
    (sum, file) => sum + (fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

module.exports = { compactDay, liveOf, sourcesOf }
