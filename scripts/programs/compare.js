'use strict'

// Compares what a program did without and with the profiler.

const { stripVTControlCharacters } = require('node:util')

/** Processes that were seen for a shorter time do not count. */
const SHORTEST_MS = 50

/** Texts that change from run to run, each with its stand-in. @type {[RegExp, string][]} */
const VARYING = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '<time>'],
  [/\d{4}-\d\d-\d\dT[\d_]+Z/g, '<time>'],
  [/\b\d{1,2}:\d\d:\d\d(\s?[AP]M)?\b/g, '<time>'],
  [/[\d.,]+\s?(?:µs|ms|seconds|secs?|s|minutes|min|m)\b/g, '<time>'],
  [/(?:<time>\s?)+/g, '<time> '],
  [/localhost:\d+/g, 'localhost:<port>'],
  [/[ \t]+/g, ' '],
]

/**
 * The outcome of a comparison: undefined where a program has no such thing.
 * @typedef {object} Row
 * @property {string} name
 * @property {string} version
 * @property {number} recorded
 * @property {number} seen
 * @property {boolean} sameOutput
 * @property {boolean} sameExit
 * @property {string} [starts]
 * @property {boolean} clean
 * @property {string} [remark]
 * @property {string[]} problems what failed; none if all is well
 */

/**
 * @typedef {object} Trace
 * @property {Set<number>} pids the processes in the merged trace
 * @property {string} runner the file of the profiler's own process
 * @property {number} startMs how long a Node takes to start: on a busy machine a process can end
 *   before its first line, and before its preloads
 */

/** @typedef {import('./session.js').Outcome} Outcome */
/** @typedef {Outcome & { changes: string }} Result */

/**
 * @param {import('./programs.js').Program} program
 * @param {Result} plain without the profiler @param {Result} profiled
 * @param {Trace} trace
 * @returns {Row}
 */
function compare(program, plain, profiled, { pids, runner, startMs }) {
  const problems = [
    ...unexpected(program, plain).map((problem) => `without the profiler: ${problem}`),
    ...unexpected(program, profiled),
  ]
  const lived = livingProcesses(profiled.processes, runner)
  const recorded = lived.filter(({ pid }) => pids.has(pid))
  const missing = lived.filter((each) => !pids.has(each.pid) && each.livedMs > startMs)
  for (const { command, livedMs, cpuMs } of missing) {
    const how = `${Math.round(livedMs)} ms, CPU time ${cpuMs} ms`
    if (!program.notRecorded?.test(command)) problems.push(`not in the trace: ${command} (${how})`)
  }
  const seen = recorded.length + missing.length
  if (seen < program.processes) {
    problems.push(`${seen} processes seen instead of ${program.processes} or more`)
  }
  const sameExit = plain.code === profiled.code && plain.signal === profiled.signal
  if (!sameExit) problems.push(`ends with ${endingOf(profiled)} instead of ${endingOf(plain)}`)
  const differences = outputDifferences(program, plain, profiled)
  problems.push(...differences)
  const clean = plain.changes === profiled.changes
  if (!clean) problems.push(`project:\n${profiled.changes}instead of\n${plain.changes}`)
  return {
    name: program.name,
    version: program.version,
    recorded: recorded.length,
    seen,
    sameOutput: differences.length === 0,
    sameExit,
    starts: program.steps && `${plain.starts.join(', ')} → ${profiled.starts.join(', ')}`,
    clean,
    remark: program.remark,
    problems,
  }
}

/** Returns how a run failed by itself: two runs that fail in the same way prove nothing. @param {import('./programs.js').Program} program @param {Result} result */
function unexpected({ code = 0, prints, steps }, result) {
  const problems = result.problem ? [result.problem] : []
  if (result.code !== code) problems.push(`ends with ${endingOf(result)} instead of ${code}`)
  const output = stripVTControlCharacters(result.stdout + result.stderr)
  if (prints && !prints.test(output)) problems.push(`does not print ${prints}:\n${output}`)
  const starts = steps ? (steps.change ? '1,2' : '1') : ''
  if (result.starts.join() !== starts) problems.push(`starts: ${result.starts.join()}\n${output}`)
  return problems
}

/** @param {Result} result */
function endingOf({ code, signal }) {
  return signal ?? `exit code ${code}`
}

/**
 * Returns the Node processes under the command that lived long enough before it ended.
 * @param {import('./processes.js').Seen[]} processes @param {string} runner
 */
function livingProcesses(processes, runner) {
  const own = processes.find(
    ({ command, firstMs }) => firstMs !== undefined && command.split(' ')[1] === runner,
  )
  // The runner's pid can have been that of a shell, with children of its own.
  const startMs = own?.firstMs ?? Infinity
  const top = processes.find(({ parent, aliveMs }) => parent === own?.pid && aliveMs > startMs)
  const endMs = top?.aliveMs ?? 0
  return processes
    .map((seen) => {
      const { firstMs = Infinity, lastMs = 0 } = seen
      return { ...seen, livedMs: Math.min(lastMs, endMs) - firstMs }
    })
    .filter(({ pid, livedMs }) => pid !== own?.pid && livedMs > SHORTEST_MS)
}

/** @param {import('./programs.js').Program} program @param {Result} plain @param {Result} profiled */
function outputDifferences(program, plain, profiled) {
  const problems = []
  for (const stream of /** @type {const} */ (['stdout', 'stderr', 'answer'])) {
    const [before, after] = [plain, profiled].map((result) =>
      normalize(result[stream] ?? '', result, program),
    )
    if (before === after) continue
    problems.push(`${stream} differs:\n${difference(before, after)}`)
  }
  return problems
}

/**
 * Removes what changes from run to run.
 * @param {string} text @param {Result} result @param {import('./programs.js').Program} program
 */
function normalize(text, { processes }, { varying = [], anyOrder = false }) {
  const pids = new Set(processes.map(({ pid }) => String(pid)))
  let plain = stripVTControlCharacters(text.replaceAll('\x1bc', ''))
  plain = plain.replace(/\b\d+\b/g, (number) => (pids.has(number) ? '<pid>' : number))
  for (const [pattern, name] of [...varying, ...VARYING]) plain = plain.replace(pattern, name)
  const lines = plain.split(/[\r\n]+/).map((line) => line.trim())
  const full = lines.filter((line) => line !== '')
  return (anyOrder ? full.sort() : full).join('\n')
}

/** Returns the lines that only one of two texts has. @param {string} before @param {string} after */
function difference(before, after) {
  const [a, b] = [before, after].map((text) => text.split('\n').filter(Boolean))
  const lines = [
    ...a.filter((line) => !b.includes(line)).map((line) => `- ${line}`),
    ...b.filter((line) => !a.includes(line)).map((line) => `+ ${line}`),
  ]
  return lines.length > 0
    ? lines.join('\n')
    : `the same lines in another order or number:\n${after}`
}

module.exports = { compare }
