'use strict'

// Adds one run to an open lake: finds its facts, makes its tables, and gives them to the store.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { lakeTables } = require('../../lib/offline.js')
const { withSignalCleanup } = require('../terminal/cleanup.js')
const { findFacts } = require('./facts/facts.js')

/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('../../lib/offline.js').LakeTables} LakeTables */
/**
 * @typedef {object} Adding
 * @property {import('./facts/facts.js').GivenFacts} given what the user tells
 * @property {import('./facts/facts.js').Circumstances} circumstances
 * @property {import('../../index.js').Selection} [selection]
 * @property {boolean} [replace] whether a run that is there with other contents is replaced
 *
 * @typedef {object} Added
 * @property {'added' | 'present' | 'replaced'} outcome
 * @property {import('../../lib/offline.js').LakeFacts} facts
 * @property {LakeTables} tables with the notes on the facts
 */

/** What goes wrong in the store, and not with the recordings: the next run would meet it too. */
class StoreError extends Error {}

/**
 * Adds a run. Throws a {@link StoreError} if the lake cannot take it, and another error if the inputs have no
 * run. Nothing is left beside the lake.
 * @param {Store} store @param {string[]} inputs files and folders of one run @param {Adding} adding
 * @returns {Promise<Added>}
 */
async function addRun(store, inputs, { given, circumstances, selection = {}, replace = false }) {
  const { facts, notes } = await findFacts(given, circumstances)
  return withFolder(async (folder) => {
    const tables = await lakeTables(inputs, facts, folder, selection)
    const files = { repo: facts.repo, date: tables.date, stem: tables.stem, folder }
    const outcome = await giveTo(store, { ...files, runId: tables.runId, replace })
    return { outcome, facts, tables: { ...tables, notes: [...tables.notes, ...notes] } }
  })
}

/**
 * Gives the files of a run to the store.
 * @param {Store} store @param {import('./store.js').AddedRun & { runId: string }} run
 * @returns {Promise<Added['outcome']>}
 */
async function giveTo(store, { runId, ...run }) {
  try {
    return (await store.addRun(run)).outcome
  } catch (error) {
    if (!run.replace) throw storeError(error)
    const { replaceCompacted } = require('./compact/replace.js')
    try {
      if (await replaceCompacted(store, { runId, ...run })) return 'replaced'
    } catch (second) {
      throw storeError(second)
    }
    throw storeError(error)
  }
}

/** @param {unknown} error */
function storeError(error) {
  return new StoreError(error instanceof Error ? error.message : String(error), { cause: error })
}

/**
 * Calls `work` with a folder that only this user can read, and that is removed afterwards, also if a signal
 * ends the process.
 * @template T @param {(folder: string) => Promise<T>} work @returns {Promise<T>}
 */
async function withFolder(work) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-lake-'))
  const remove = () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  try {
    return await withSignalCleanup(() => work(folder), remove)
  } finally {
    remove()
  }
}

module.exports = { addRun, withFolder, StoreError }
