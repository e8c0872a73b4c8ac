'use strict'

// What follows a recorded command: its trace, and a short report.

const fs = require('node:fs')
const path = require('node:path')
const { merge, report } = require('../../index.js')
const { formatBytes, formatCount, formatPath, workingDirectory } = require('../terminal/format.js')
const { progress } = require('../terminal/progress.js')
const { say, write, messageOf, sayTroubles } = require('../terminal/output.js')
const { screen } = require('../terminal/screen.js')
const { renderText } = require('../report/text.js')
const { tidily } = require('../terminal/cleanup.js')

/** So that the command's own last lines are seen too. */
const MOST_LINES = 44
const LONGEST_TABLE = 200

/**
 * @param {string[]} recordings their files
 * @param {object} run
 * @param {string} run.dir absolute, as its output
 * @param {import('./child.js').Ending} run.ending
 * @param {string} [run.output]
 * @param {boolean} run.merge
 * @param {boolean} [run.quiet]
 */
async function afterRun(recordings, { dir, ending, output, quiet, ...options }) {
  const cwd = workingDirectory()
  const shownDir = formatPath(dir, cwd)
  const where = `${formatCount(recordings.length, 'recording')} in ${shownDir} (cpu-prof merge ${shownDir} -o trace.json)`
  if (!options.merge) {
    if (!quiet) say(where)
    return
  }

  let result
  try {
    const trace = output ?? freeName(dir)
    const wanted = place(trace)
    if (recordings.some((file) => place(file) === wanted)) {
      throw new Error(`${trace} is one of the recordings`)
    }
    result = await tidily(() => mergeAll(recordings, trace, ending), `no trace yet: ${where}`)
  } catch (error) {
    say(`no trace: ${messageOf(error)}; the recordings are in ${shownDir}`)
    return
  }
  sayTroubles(result)
  if (quiet) return

  try {
    const { columns, rows = MOST_LINES, colours } = screen(process.stderr)
    const lines = Math.min(MOST_LINES, rows - 4)
    const text = renderText(await report(recordings, { top: LONGEST_TABLE }), {
      ...{ columns, lines, colours, cwd },
    })
    write(`\n${text}\n`)
  } catch (error) {
    say(`no report: ${messageOf(error)}`)
  }
  for (const line of stillRecorded(recordings)) say(line)
  const { files, bytes, processes, threads } = result
  const what = `${formatBytes(bytes)}, ${formatCount(processes, 'process', 'processes')}, ${formatCount(threads, 'thread')}`
  for (const file of files) write(`trace: ${formatPath(file, cwd)} (${what})\n`)
  write('  open it in Chrome: F12, Performance, "Load trace" (the arrow up)\n')
  write(`  more of the report: cpu-prof report ${formatPath(files[0], cwd)}\n`)
}

/** An earlier run into the folder has a trace there, of other recordings. @param {string} dir */
function freeName(dir) {
  for (let number = 1; ; number++) {
    const file = path.join(dir, number === 1 ? 'trace.json' : `trace.${number}.json`)
    if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return file
  }
}

/** Alike for all paths to it, through whatever links to its folder. @param {string} file */
function place(file) {
  try {
    return path.join(fs.realpathSync(path.dirname(file)), path.basename(file))
  } catch {
    // Nothing is there yet.
    return file
  }
}

/** @param {string[]} recordings @param {string} output @param {import('./child.js').Ending} ending */
async function mergeAll(recordings, output, { pid, code, signal }) {
  const bar = progress(`merging ${formatCount(recordings.length, 'recording')}`)
  try {
    const exit = pid === undefined ? undefined : { pid, code, signal }
    return await merge(recordings, output, { exit, onProgress: bar.update })
  } finally {
    bar.end()
  }
}

/**
 * What outlives the command, a daemon for instance: it stays recorded, and the trace has only its
 * beginning.
 * @param {string[]} recordings
 */
function stillRecorded(recordings) {
  const pids = new Set(recordings.map(pidIfAlive).filter((pid) => pid !== undefined))
  if (pids.size === 0) return []
  const who =
    pids.size === 1
      ? 'a process outlives the command and is'
      : `${pids.size} processes outlive the command and are`
  return [`${who} recorded on, past this trace: pid ${[...pids].join(', ')}`]
}

/** @param {string} file */
function pidIfAlive(file) {
  try {
    const fd = fs.openSync(file, 'r')
    try {
      const { size } = fs.fstatSync(fd)
      const head = readAt(fd, 0, 4096)
      const pid = Number(/"cpu-prof":\{[^[]*?"pid":(\d+)/.exec(head)?.[1])
      const hasEnded = readAt(fd, Math.max(0, size - 512), 512).includes('"name":"trace.end"')
      if (!pid || hasEnded) return undefined
      process.kill(pid, 0)
      return pid
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    // Not there any more: the file, or the process.
    return undefined
  }
}

/** @param {number} fd @param {number} position @param {number} length */
function readAt(fd, position, length) {
  const buffer = Buffer.alloc(length)
  return buffer.toString('latin1', 0, fs.readSync(fd, buffer, 0, length, position))
}

module.exports = { afterRun }
