'use strict'

// Adds one run to an open lake: finds its facts, makes its tables, and gives them to the store.

const { isDefect } = require('@org/cpu-prof/own-packages').defect
const { findFacts } = require('./facts/facts.js')
const { withFolder } = require('./folder.js')
const { lakeTables } = require('./tables.js')

/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./tables.js').LakeTables} LakeTables */
/**
 * @typedef {object} Adding
 * @property {import('./facts/facts.js').GivenFacts} given what the user tells
 * @property {import('./facts/facts.js').Circumstances} circumstances
 * @property {import('@org/cpu-prof').Selection} [selection]
 * @property {boolean} [replace] whether a run that is there with other contents is replaced
 * @property {ReplaceCompacted} [replaceCompacted] what replaces a run in a file of many runs
 *
 * @typedef {import('./store.js').AddedRun & { runId: string }} NamedRun
 * @typedef {(store: Store, run: NamedRun) => Promise<boolean>} ReplaceCompacted returns whether such a file
 *   had the run
 *
 * @typedef {object} Added
 * @property {'added' | 'present' | 'replaced'} outcome
 * @property {import('./tables.js').LakeFacts} facts
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
async function addRun(store, inputs, adding) {
  const { given, circumstances, selection = {}, replace = false } = adding
  const { facts, notes } = await findFacts(given, circumstances)
  return withFolder(async (folder) => {
    const tables = await lakeTables(inputs, facts, folder, selection)
    const files = { repo: facts.repo, date: tables.date, stem: tables.stem, folder }
    const run = { ...files, runId: tables.runId, replace }
    const outcome = await giveTo(store, run, adding.replaceCompacted)
    return { outcome, facts, tables: { ...tables, notes: [...tables.notes, ...notes] } }
  })
}

/**
 * Gives the files of a run to the store.
 * @param {Store} store @param {NamedRun} named @param {ReplaceCompacted} [replaceCompacted]
 * @returns {Promise<Added['outcome']>}
 */
async function giveTo(store, named, replaceCompacted) {
  const { runId: _, ...run } = named
  try {
    return (await store.addRun(run)).outcome
  } catch (error) {
    if (!run.replace || replaceCompacted === undefined) throw storeError(error)
    try {
      if (await replaceCompacted(store, named)) return 'replaced'
    } catch (second) {
      throw storeError(second)
    }
    throw storeError(error)
  }
}

/** @param {unknown} error */
function storeError(error) {
  if (isDefect(error)) return error
  return new StoreError(error instanceof Error ? error.message : String(error), { cause: error })
}

module.exports = { addRun, StoreError }
