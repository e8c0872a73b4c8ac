'use strict'

// Records one run of a command, from its plan to what is said at the end.

const { loadTools } = require('../../lib/addon.js')
const { WRONG_USAGE } = require('../exit-codes.js')
const { failToStart, runToEnd } = require('./watch/child.js')
const { planRun } = require('./prepare/plan.js')
const { workingDirectory } = require('../terminal/format.js')
const { printStatus, writeStderr, failWith, printError } = require('../terminal/output.js')

/** Why a run within a run is not added by itself. */
const NESTED =
  'not added to the lake: the run is part of an outer cpu-prof run, which is added if it has a --lake; ' +
  'use --dir to record it by itself'

/** @typedef {import('./prepare/plan.js').Options} Options */
/** @typedef {import('./prepare/plan.js').Plan} Plan */
/** @typedef {import('./watch/watch.js').Seen} Seen */

/**
 * Runs a command to its end, and records it. Returns how the command ended; undefined if it could not be
 * started, which sets the exit code.
 * @param {string[]} command
 * @param {Options & import('./watch/child.js').Connection & Record<string, any>} options
 * @returns {Promise<import('./watch/child.js').Ending | undefined>}
 */
async function record(command, options) {
  try {
    // The processes of the command would run unprofiled, and say so late.
    loadTools()
  } catch (error) {
    failWith(error)
    return undefined
  }
  let plan
  try {
    plan = planRun(command, options, process.env)
  } catch (error) {
    failWith(error, { exitCode: WRONG_USAGE })
    return undefined
  }
  const { quiet } = options
  const { id, isNested, env } = plan
  /** @type {() => Seen[]} */
  let endWatch = () => []
  let ending
  try {
    const onStart = (/** @type {number} */ pid) => {
      // Loaded while the command runs. An outer run watches the processes of this one too.
      if (!quiet && !isNested)
        endWatch = orNothing(
          () => require('./watch/watch.js').watch(pid, id),
          () => [],
        )
    }
    ending = await runToEnd(command, env, onStart, options)
  } catch (error) {
    endRun(plan)
    failToStart(command[0], /** @type {NodeJS.ErrnoException} */ (error))
    return undefined
  }
  await collect(command[0], plan, { ending, nodes: endWatch() }, options)
  endRun(plan)
  // What an earlier run left.
  if (!isNested && !quiet) orNothing(() => require('./after/remains.js').printRemains(), undefined)
  return ending
}

/** Ends the run, and removes the folders that it leaves empty. @param {Plan} plan */
function endRun({ recordingsDir, end }) {
  recordingsDir.removeIfEmpty()
  end()
}

/**
 * Returns what `find` returns, or something else if that throws: for example, the command removed this
 * package. What only informs the user must not cost the trace.
 * @template T @param {() => T} find @param {T} otherwise
 */
function orNothing(find, otherwise) {
  try {
    return find()
  } catch {
    return otherwise
  }
}

/** Returns the recordings, with those of daemons that have just started. @param {Plan} plan @param {Seen[]} nodes */
async function listRecordings({ recordingsDir: { listRecordings }, isArmed }, nodes) {
  const recordings = listRecordings()
  if (nodes.length === 0 || isArmed) return recordings
  const wait = async () =>
    require('./after/daemons.js').waitForDaemons(nodes, recordings, listRecordings)
  return wait().catch(() => recordings)
}

/**
 * Collects the recordings, and says what they are. Never throws, because the exit code is the command's.
 * @param {string} file the command's program @param {Plan} plan
 * @param {{ ending: import('./watch/child.js').Ending, nodes: Seen[] }} seen
 * @param {Options} options
 */
async function collect(file, plan, { ending, nodes }, options) {
  try {
    const recordings = await listRecordings(plan, nodes)
    if (plan.isNested && recordings.length > 0) {
      // The outer run is the one that is added.
      if (options.lake !== undefined && options.isLakeGiven) printStatus(NESTED)
      return
    }
    // Nothing more is loaded for a short command.
    const nameMissing = () => {
      if (nodes.length === 0 || plan.isArmed) return ''
      const { missingText } = require('./after/missing.js')
      require('./after/unrecorded.js').noteUnrecorded(nodes, recordings)
      return missingText(nodes, recordings, workingDirectory())
    }
    const missing = orNothing(nameMissing, '')
    if (recordings.length > 0) {
      const { collectRun } = require('./after/collect.js')
      await collectRun(recordings, { ...options, ...plan, ending, missing })
    } else if (!options.quiet) {
      printNothing(file, plan, missing)
    }
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    const why = code === 'MODULE_NOT_FOUND' ? new Error('the command removed this package') : error
    const after = `; the recordings are in ${plan.recordingsDir.path}`
    printError(why, { before: 'no trace: ', after })
  }
}

/**
 * Says why there is no recording.
 * @param {string} file the command's program @param {Plan} plan
 * @param {string} missing text about Node processes without a recording, empty if there are none
 */
function printNothing(file, { finalDir, recordingsDir, isArmed }, missing) {
  const nothing = 'no Node process was recorded'
  if (recordingsDir.isGone()) {
    printStatus(`the recordings' folder is gone: ${finalDir}`)
  } else if (isArmed) {
    printStatus('nothing was recorded: the processes were armed, and no recording was started')
  } else if (missing === '') {
    printStatus(`${nothing}: ${file} started none, or changed their NODE_OPTIONS`)
  } else {
    printStatus(nothing)
    writeStderr(missing)
  }
}

module.exports = { record }
