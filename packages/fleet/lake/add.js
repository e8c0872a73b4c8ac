'use strict'

// `cpu-prof lake add`: adds runs to a lake.

const fs = require('node:fs')
const { report } = require('@org/cpu-prof')
const { loadTools } = require('@org/cpu-prof/own-packages').addon
const { parsed } = require('@org/cpu-prof/own-packages').jsonResult
const { allRunsOf } = require('@org/cpu-prof/own-packages').offline
const { formatPath, jsonText, printable, workingDirectory } =
  require('@org/cpu-prof/own-packages').format
const { withInputs } = require('@org/cpu-prof/own-packages').input
const { failWith, printProblems, printResult } = require('@org/cpu-prof/own-packages').output
const { StoreError, addRun } = require('../base/add-run.js')
const { neededLake } = require('../base/lake-of.js')
const { addedText } = require('../base/text.js')

/**
 * @typedef {object} OwnOptions
 * @property {string} [to] the lake
 * @property {boolean} [replace]
 * @property {boolean} [json]
 * @property {boolean} [quiet]
 *
 * @typedef {OwnOptions & import('../base/facts/facts.js').GivenFacts & Record<string, any>} Options
 */

/** @param {string[]} inputs each a run, or a folder of runs @param {Options} options */
async function add(inputs, options) {
  const { to, repo, commit, commitSeq, branch, job, host, replace, json, quiet, ...selection } =
    options
  let lake
  let store
  try {
    lake = neededLake(to, '--to')
    store = require('../base/store.js').openStore(lake)
  } catch (error) {
    return failWith(error)
  }
  const given = { repo, commit, commitSeq, branch, job, host }
  const cwd = workingDirectory()
  const name = formatPath(lake, cwd)
  /** @type {object[]} */
  const results = []
  await withInputs(inputs, async (paths) => {
    const { replaceCompacted } = require('./compact/replace.js')
    for (const run of paths.flatMap(allRunsOf)) {
      let added
      try {
        const circumstances = { ...(await recordedWhere(run, selection)), cwd }
        added = await addRun(store, [run], {
          given,
          circumstances,
          selection,
          replace,
          replaceCompacted,
        })
      } catch (error) {
        failWith(error, { before: `not added to the lake ${name}: ${formatPath(run, cwd)}: ` })
        if (error instanceof StoreError) return
        continue
      }
      printProblems(added.tables)
      if (json) results.push(resultOf(run, added))
      else if (!quiet) printResult(`${printable(addedText(added, name))}\n`)
    }
  })
  if (json) printResult(jsonText(results))
}

/** Returns what a program gets to know about a run. @param {string} input @param {import('../base/add-run.js').Added} added */
function resultOf(input, { outcome, facts, tables }) {
  return { input, outcome, ...facts, ...tables }
}

/**
 * Returns where a run was recorded, and when its commit was there at the latest.
 * @param {string} run a path @param {import('@org/cpu-prof').Selection} selection
 */
async function recordedWhere(run, selection) {
  const processes = headersOf(run) ?? (await report(run, { top: 0, ...selection })).processes
  const pids = new Set(processes.map(({ pid }) => pid))
  const isFirst = (/** @type {Place} */ { parentPid }) =>
    parentPid === undefined || !pids.has(parentPid)
  const places = processes.filter((process) => process.cwd !== undefined)
  const [first] = [...places.filter(isFirst), ...places].sort((a, b) => a.startMs - b.startMs)
  return { recordedIn: first?.cwd, knownMs: fs.statSync(run).mtimeMs }
}

/** @typedef {import('@org/cpu-prof/own-packages').Header} Header */
/** @typedef {{ pid?: number, parentPid?: number, cwd?: string, startMs: number }} Place */

/**
 * Returns what the headers of recordings tell, which needs no reading of the recordings; undefined where a
 * file's header does not tell the working directory, as that of a merged trace.
 * @param {string} run @returns {Place[] | undefined}
 */
function headersOf(run) {
  /** @type {Header[]} */
  const headers = parsed(loadTools().cpuProfHeaders([run]))
  const isTold = headers.length > 0 && headers.every(({ cwd }) => cwd != null)
  if (!isTold) return undefined
  return headers.map(({ pid, parentPid, cwd, startMs }) => ({
    pid: pid ?? undefined,
    parentPid: parentPid ?? undefined,
    cwd: cwd ?? undefined,
    startMs: startMs ?? 0,
  }))
}

module.exports = { add }
