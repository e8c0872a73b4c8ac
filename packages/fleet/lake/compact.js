'use strict'

// `cpu-prof lake compact`: makes one file of the runs of a day.

const { formatBytes, formatCount, formatPath, jsonText, printable, workingDirectory } =
  require('@org/cpu-prof/own-packages').format
const { failWith, printResult, printStatus } = require('@org/cpu-prof/own-packages').output
const { loadDuckdb } = require('./duckdb.js')
const { neededLake } = require('../base/lake-of.js')

/**
 * @typedef {object} Options
 * @property {number} olderThan milliseconds since the start of a day
 * @property {number} grace milliseconds
 * @property {string} [repo]
 * @property {boolean} [json]
 * @property {boolean} [quiet]
 */

/** @param {string | undefined} place the lake @param {Options} options */
async function compact(place, { olderThan, grace, repo, json, quiet }) {
  let lake
  let store
  let days
  try {
    lake = neededLake(place, 'cpu-prof lake compact <lake>')
    loadDuckdb()
    store = require('../base/store.js').openStore(lake)
    days = await daysOf(store, repo, Date.now() - olderThan)
  } catch (error) {
    return failWith(error)
  }
  const name = formatPath(lake, workingDirectory())
  /** @type {object[]} */
  const results = []
  // One after another, so that the memory is that of one.
  for (const day of days) {
    let result
    try {
      result = await require('./compact/partition.js').compactDay(store, day)
    } catch (error) {
      failWith(error, { before: `${day.repo} ${day.date} stays as it is: ` })
      continue
    }
    results.push({ ...day, ...result })
    if (!json && !quiet) printResult(`${printable(lineOf(day, result))}\n`)
  }
  if (!json && !quiet && days.length === 0) {
    printStatus(`nothing to compact in the lake ${name}: each day has one file, or is too new`)
  }
  const removed = await sweep(store, grace)
  if (json) printResult(jsonText({ days: results, removed }))
}

/**
 * Returns the days that began before a moment, and have more than one file.
 * @param {import('../base/store.js').Store} store @param {string | undefined} repo @param {number} beforeMs
 */
async function daysOf(store, repo, beforeMs) {
  // Without tables, no file is fetched.
  const { partitions } = await store.live({ repo, tables: [] })
  return partitions
    .filter(({ date, stems }) => stems.length > 1 && Date.parse(date) <= beforeMs)
    .map(({ repo, date }) => ({ repo, date }))
}

/** Removes what nobody reads. Returns the count of files. @param {import('../base/store.js').Store} store @param {number} graceMs */
async function sweep(store, graceMs) {
  try {
    return (await store.sweep({ graceMs })).removed
  } catch (error) {
    failWith(error, { before: 'replaced files were not removed: ' })
    return 0
  }
}

/** @param {{ repo: string, date: string }} day @param {import('./compact/partition.js').Compacted} result */
function lineOf({ repo, date }, { outcome, files = 0, runs = 0, before = 0, after = 0 }) {
  if (outcome === 'alone') return `${repo} ${date}: another compaction was faster`
  if (outcome === 'busy')
    return `${repo} ${date}: others change the day all the time; it stays as it is`
  const sizes = `${formatBytes(before)} became ${formatBytes(after)}`
  return `${repo} ${date}: ${formatCount(files, 'file')} of ${formatCount(runs, 'run')} became one (${sizes})`
}

module.exports = { compact }
