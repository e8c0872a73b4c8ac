'use strict'

// Runs spec files on the Node that runs this script: `node scripts/specs.js [starts of names]`.
// `--kind=pure` takes one kind, `--without=name` excludes files, and `--source=inspector` makes all
// recordings use that source. With SPEC_FAILURES, failures go into that file, for scripts/repeat.js.

const { Readable } = require('node:stream')
const { spec } = require('node:test/reporters')
const { parseArgs } = require('node:util')
const { addFailure, isJudgedLater } = require('./specs/failures.js')
const { selectSpecs } = require('./specs/files.js')
const { startMonitor } = require('./specs/monitor.js')
const { runSpecs } = require('./specs/runner.js')

/** @typedef {import('./specs/runner.js').Outcome} Outcome */

/**
 * Yields the events of all files with one summary.
 * @param {string[]} files @param {(outcome: Outcome) => void} onOutcome
 */
async function* eventsOf(files, onOutcome) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for await (const outcome of runSpecs(files)) {
    onOutcome(outcome)
    for (const event of outcome.events) {
      if (event.type === 'test:summary') continue
      const [, name, count] = isSummary(event) ?? []
      if (name === undefined) yield event
      else counts.set(name, (counts.get(name) ?? 0) + Number(count))
    }
  }
  for (const [name, count] of counts) {
    // The durations of files that ran at the same time say nothing.
    if (name === 'duration_ms') continue
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}` } }
  }
}

/** Matches a line of a file's summary. @param {any} event */
function isSummary({ type, data }) {
  if (type !== 'test:diagnostic' || data.nesting !== 0) return null
  return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/.exec(data.message)
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      source: { type: 'string' },
      kind: { type: 'string', multiple: true },
      without: { type: 'string', multiple: true },
    },
  })
  const { source, kind: kinds, without } = values
  const files = selectSpecs({ kinds, names: positionals, without, source })
  if (files.length === 0) {
    console.error(`no spec file begins with ${positionals.join(' or ')}`)
    process.exitCode = 1
    return
  }
  if (source !== undefined) process.env.SPEC_SOURCE = source

  const monitor = startMonitor()
  /** @type {{ file: string, seconds: number }[]} */
  const times = []
  /** @type {string[]} */
  const lines = []
  const onOutcome = (/** @type {Outcome} */ { file, failures, startMs, seconds }) => {
    times.push({ file, seconds })
    if (failures.length === 0) return
    addFailure({ file, node: process.execPath, version: process.version, source })
    const machine = monitor.describe(startMs)
    for (const name of failures) lines.push(`failed: ${file}: ${name} (meanwhile ${machine})`)
  }
  const report = Readable.from(eventsOf(files, onOutcome)).pipe(new spec())
  for await (const text of report) process.stdout.write(text)

  const slowest = times.sort((a, b) => b.seconds - a.seconds).slice(0, 5)
  console.log(
    `slowest: ${slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed()} s`).join(', ')}`,
  )
  console.log(`machine: ${monitor.stop()}`)
  for (const line of lines) console.log(line)
  if (lines.length > 0 && !isJudgedLater) process.exitCode = 1
}

if (require.main === module) main()
