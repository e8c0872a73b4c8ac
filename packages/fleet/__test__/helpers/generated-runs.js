'use strict'

// A lake of many runs that are made of few real recordings: each is a part of one, as another process of another
// day has it.

const fs = require('node:fs')
const path = require('node:path')
const index = require('../../../../index.js')
const { openStore } = require('../../base/store.js')
const { lakeTables } = require('../../base/tables.js')
const { temporaryDirectory, tracesIn } = require('../../../../__test__/helpers/files.js')

/** Runs that are read at one time. */
const AT_ONCE = 4
const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 4, 1, 8)
/** A commit has this many runs, and a day twice as many. */
const RUNS_OF_COMMIT = 5
const REPO = 'org/app'

/** @typedef {{ file: string, name: string, selfMs: number, totalMs: number }} Row */

/**
 * Writes the files of a run: those of a recording, with another key of the process and another start.
 * @param {string[]} traces @param {number} number @param {string} folder
 */
function writeRun(traces, number, folder) {
  const key = (number + 1).toString(16).padStart(8, '0')
  const day = Math.floor(number / (2 * RUNS_OF_COMMIT))
  const start = new Date(START_MS + day * DAY_MS + (number % 10) * 60_000).toISOString()
  for (const trace of traces) {
    const text = fs.readFileSync(trace, 'utf8')
    const changed = text
      .replace(/"startTime":"[^"]*"/, `"startTime":"${start}"`)
      .replace(/"processKey":"[0-9a-f]{8}/, `"processKey":"${key}`)
    fs.writeFileSync(path.join(folder, path.basename(trace)), changed)
  }
}

/**
 * Adds runs to a lake, and their reports to the sums of functions.
 * @param {string} lake @param {string[]} recordings folders
 * @param {[number, number]} range numbers of the first run, and of the one after the last
 * @param {Map<string, Row>} functions
 */
async function addGeneratedRuns(lake, recordings, [first, end], functions) {
  const store = openStore(lake)
  const traces = recordings.map((folder) => tracesIn(folder))
  const numbers = Array.from({ length: end - first }, (_, index) => first + index)
  /** @param {number} number */
  const add = async (number) => {
    const [run, tables] = [temporaryDirectory(), temporaryDirectory()]
    writeRun(traces[number % traces.length], number, run)
    // The parts differ, as runs do.
    const selection = { to: 60 + 7 * (number % 23) }
    const commit = Math.floor(number / RUNS_OF_COMMIT)
    const facts = {
      repo: REPO,
      commit: `c${commit}`,
      commitSeq: commit,
      branch: 'main',
      job: 'build',
    }
    const result = await lakeTables(run, facts, tables, selection)
    const { outcome } = await store.addRun({
      repo: REPO,
      date: result.date,
      stem: result.stem,
      folder: tables,
    })
    if (outcome !== 'added') throw new Error(`run ${number} is ${outcome}`)
    const report = await index.report(run, { ...selection, top: Number.POSITIVE_INFINITY })
    for (const { file, name, selfMs, totalMs } of report.functions) {
      const row = functions.get(`${file} ${name}`) ?? { file, name, selfMs: 0, totalMs: 0 }
      row.selfMs += selfMs
      row.totalMs += totalMs
      functions.set(`${file} ${name}`, row)
    }
    for (const folder of [run, tables]) fs.rmSync(folder, { recursive: true })
  }
  const next = async () => {
    for (let number = numbers.shift(); number !== undefined; number = numbers.shift()) {
      await add(number)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

module.exports = { addGeneratedRuns }
