'use strict'

// Replaces a run that is in a file of many runs: the file is written anew, with the new tables of the run.

const path = require('node:path')
const { withFolder } = require('../../base/folder.js')
const { liveOf, sourcesOf } = require('./partition.js')
const { TABLES, fileWith, rewrite } = require('./rewrite.js')

/** How often it is tried again where others change the day meanwhile. */
const ATTEMPTS = 5

/**
 * Replaces a run in a compacted file. Returns false if no compacted file has the run. Throws if DuckDB is
 * missing, and a file could have the run.
 * @param {import('../../base/store.js').Store} store
 * @param {{ repo: string, date: string, stem: string, folder: string, runId: string }} run
 */
async function replaceCompacted(store, { repo, date, stem, folder, runId }) {
  const day = { repo, date }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const live = await liveOf(store, day)
    const candidates = live?.stems.filter((stem) => stem.startsWith('c-')) ?? []
    if (live === undefined || candidates.length === 0) return false
    if (live.stems.some((stem) => stem.startsWith(`${runId}-`))) return false
    const sources = sourcesOf(candidates, live.files)
    const committed = await withFolder(async (work) => {
      const functions = sources.map((source) => source.functions ?? '')
      const index = await fileWith(functions, runId, work)
      if (index < 0) return undefined
      const old = candidates[index]
      const fresh = Object.fromEntries(
        TABLES.map((table) => [table, path.join(folder, `${table}.parquet`)]),
      )
      const salt = JSON.stringify([day, live.nextChange, old, stem])
      const written = await rewrite([fresh, sources[index]], work, salt)
      const change = { number: live.nextChange, replaces: [old] }
      const adds = [{ stem: written.stem, folder: work }]
      return (await store.commit({ ...day, ...change, adds })).committed
    })
    if (committed === undefined) return false
    if (committed) return true
  }
  throw new Error(`others change ${repo} on ${date} all the time; try again later`)
}

module.exports = { replaceCompacted }
