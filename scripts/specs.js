'use strict'

// Runs spec files on the Node that runs this script: `node scripts/specs.js [file name prefixes]`.
// `--without=prefix` excludes files, and `--source=inspector` makes all recordings use that source.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Readable } = require('node:stream')
const { run } = require('node:test')
const { spec } = require('node:test/reporters')
const { parseArgs } = require('node:util')

const DIR = path.join(__dirname, '..', '__test__')

/** Spec files that run at the same time: a spec mostly waits for a program. */
const AT_ONCE = os.cpus().length + 1

/** Specs that run alone, and the reason. @type {Record<string, string>} */
const ALONE = {
  churn: 'starts hundreds of threads and processes at once, which would starve every other spec',
  rotation: 'compares moments of a run, and V8 needs a core for its sampling thread',
  'signals-under-load': 'keeps every core busy, to delay the signal thread',
  tsc: 'compares two runs, one after the other: both need an equally quiet machine',
}

/** The slowest specs, which start first so that the total time is short. */
const LONGEST = ['crashes', 'ends', 'monorepo', 'runners', 'api-workers', 'hostile']

/** Specs with the same outcome for both sources: they read recordings, or choose the source. */
const ANY_SOURCE = [
  'check',
  'cli',
  'convert',
  'foreign',
  'inspector',
  'merge',
  'monorepo',
  'programs',
  'report',
  'speedscope',
  'types',
]

/**
 * Lists the spec files whose names begin with one of `wanted`, or all spec files if it is empty.
 * @param {string[]} wanted @param {string[]} [without]
 */
function specFiles(wanted, without = []) {
  const begins = (/** @type {string} */ file) => (/** @type {string} */ name) =>
    file.startsWith(name)
  return fs
    .readdirSync(DIR)
    .filter((file) => file.endsWith('.spec.js'))
    .filter((file) => wanted.length === 0 || wanted.some(begins(file)))
    .filter((file) => !without.some(begins(file)))
}

/** Sorts files, the slowest first. @param {string[]} files */
function longestFirst(files) {
  const rank = (/** @type {string} */ file) => {
    const index = LONGEST.findIndex((name) => file.startsWith(name))
    return index === -1 ? LONGEST.length : index
  }
  return [...files].sort((a, b) => rank(a) - rank(b))
}

/**
 * Runs the files that can share the machine, then the others, and yields one stream of events with
 * one summary.
 * @param {string[]} files
 */
async function* events(files) {
  const isAlone = (/** @type {string} */ file) => path.basename(file, '.spec.js') in ALONE
  const phases = [
    { files: longestFirst(files.filter((file) => !isAlone(file))), concurrency: AT_ONCE },
    { files: files.filter(isAlone), concurrency: 1 },
  ].filter((phase) => phase.files.length > 0)
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const phase of phases) {
    const paths = phase.files.map((file) => path.join(DIR, file))
    for await (const event of run({ ...phase, files: paths })) {
      const [, name, count] = isSummary(event) ?? []
      if (name === undefined) yield event
      else counts.set(name, (counts.get(name) ?? 0) + Number(count))
    }
  }
  for (const [name, count] of counts) {
    yield { type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}` } }
  }
}

/** Matches a line of a phase's summary. @param {any} event */
function isSummary({ type, data }) {
  if (type !== 'test:diagnostic' || data.nesting !== 0) return null
  return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/.exec(data.message)
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      source: { type: 'string' },
      without: { type: 'string', multiple: true, default: [] },
    },
  })
  const { source, without = [] } = values
  if (source !== undefined) process.env.SPEC_SOURCE = source
  const files = specFiles(positionals, [...without, ...(source === undefined ? [] : ANY_SOURCE)])
  if (files.length === 0) {
    console.error(`no spec file begins with ${positionals.join(' or ')}`)
    process.exitCode = 1
    return
  }
  Readable.from(events(files))
    .on('data', ({ type, data }) => {
      if (type === 'test:fail' && !data.todo) process.exitCode = 1
    })
    .pipe(new spec())
    .pipe(process.stdout)
}

if (require.main === module) main()

module.exports = { specFiles }
