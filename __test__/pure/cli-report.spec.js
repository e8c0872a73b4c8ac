'use strict'

// The command line of `report`, on recordings with known times.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

/** The main thread starts two workers and waits for them. @type {Span[]} */
const MAIN = [
  ['main workers.js:12@14', 40],
  ['(program)', 4],
  ['(idle)', 400],
  ['main workers.js:12 > done workers.js:30@31', 16],
]
/** @type {Span[]} */
const WORKER = [
  ['crunch workers.js:40 > spin spin.js:10@15', 300],
  ['(garbage collector)', 12],
  ['crunch workers.js:40 > spin spin.js:10 > burn node_modules/fire/index.js:39@42', 88],
]

/** Writes the recordings of a process with two workers. Returns its folder. */
function writeThreads() {
  const cwd = temporaryDirectory()
  const process = { cwd, label: 'workers.js', argv: ['natural'], script: 'workers.js' }
  for (const tid of [0, 1, 2]) {
    writeTrace(path.join(cwd, `CPU.20260101.101010.7.${tid}.001.trace.json`), {
      ...process,
      tid,
      start: 1e9 + 20_000 * tid,
      spans: tid === 0 ? MAIN : WORKER,
    })
  }
  return cwd
}

/** Writes a recording of half a second. Returns its folder. */
function writeWork() {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'CPU.20260101.101010.7.0.001.trace.json')
  writeTrace(file, { cwd, spans: [['main a.js:1 > spin spin.js:10', 500]] })
  return cwd
}

/** What `report` prints of {@link writeThreads}. */
const SCREEN = `
70 % of the work is spin (spin.js:10), called by crunch, in 2 threads.

460 ms · 1 process, 3 threads · JavaScript 832 ms, native code 4.0 ms, gc 24 ms, idle 400 ms
CPU 860 ms: JavaScript threads 860 ms, native threads 0.0 ms
the end waited for: workers.js 44 ms → workers.js · 2 workers: workers.js 396 ms → workers.js 20 ms

processes and threads, the busiest first (the denser the bar, the busier)
                            0                                 460 ms     busy     idle
  workers.js natural (7)    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    60 ms   400 ms
    worker 1: workers.js     ████████████████████████████████████      400 ms        –
    worker 2: workers.js       ████████████████████████████████████    400 ms        –

packages, by total time (% of 860 ms of work)
     total                         self critical
    832 ms  96.7% ████████████   656 ms   345 ms  (own code)
    176 ms  20.5% ██▌            176 ms    98 ms  fire

own files, by total time (% of 860 ms of work)
     total                         self critical
    776 ms  90.2% ████████████   600 ms   299 ms  spin.js

functions, by self time (% of 860 ms of work)
      self                        total critical
    600 ms  69.8% ████████████   776 ms   299 ms  spin  spin.js:10
    176 ms  20.5% ███▌           176 ms    98 ms  burn  node_modules/fire/index.js:39
     40 ms   4.7% ▊               56 ms    30 ms  main  workers.js:12
     16 ms   1.9% ▍               16 ms    16 ms  done  workers.js:30

functions, by total time, without Node's own (% of 860 ms of work)
     total                         self critical
    776 ms  90.2% ████████████   600 ms   299 ms  spin  spin.js:10
    176 ms  20.5% ██▊            176 ms    98 ms  burn  node_modules/fire/index.js:39
     56 ms   6.5% ▉               40 ms    30 ms  main  workers.js:12
     16 ms   1.9% ▎               16 ms    16 ms  done  workers.js:30
`.trimStart()

const FILES_60_COLUMNS = `
70 % of the work is spin (spin.js:10), called by crunch, in
2 threads.

460 ms · 1 process, 3 threads
JavaScript 832 ms, native code 4.0 ms, gc 24 ms, idle 400 ms
CPU 860 ms: JavaScript threads 860 ms, native threads 0.0 ms
the end waited for: workers.js 44 ms →
workers.js · 2 workers: workers.js 396 ms → workers.js 20 ms

files, by self time (% of 860 ms of work)
      self           total critical
    600 ms  69.8%   776 ms   299 ms  spin.js
    176 ms  20.5%   176 ms    98 ms  …modules/fire/index.js
     56 ms   6.5%   832 ms    46 ms  workers.js

files, by total time (% of 860 ms of work)
     total            self critical
    832 ms  96.7%    56 ms    46 ms  workers.js
    776 ms  90.2%   600 ms   299 ms  spin.js
    176 ms  20.5%   176 ms    98 ms  …modules/fire/index.js
`.trimStart()

const LINES = `
lines, by self time (% of 860 ms of work)
      self                         samples
    600 ms  69.8% ███████████████      600  spin  spin.js:15
    176 ms  20.5% ████▍                176  burn  node_modules/fire/index.js:42
     40 ms   4.7% █                     40  main  workers.js:14
     16 ms   1.9% ▍                     16  done  workers.js:31
`

const PACKAGES = `
70 % of the work is spin (spin.js:10), called by crunch, in 2 threads.

**460 ms**, 1 process, 3 threads: JavaScript 832 ms, native code 4.0 ms, gc 24 ms, idle 400 ms

The end waited for: workers.js 44 ms → workers.js · 2 workers: workers.js 396 ms → workers.js 20 ms

### Packages, by self time

| package | self | total | critical | share of work |
| --- | ---: | ---: | ---: | ---: |
| \`(own code)\` | 656 ms | 832 ms | 345 ms | 76.3% |
| \`fire\` | 176 ms | 176 ms | 98 ms | 20.5% |

### Packages, by total time

| package | total | self | critical | share of work |
| --- | ---: | ---: | ---: | ---: |
| \`(own code)\` | 832 ms | 656 ms | 345 ms | 96.7% |
| \`fire\` | 176 ms | 176 ms | 98 ms | 20.5% |
`.trimStart()

test('report prints text, Markdown or JSON on stdout, in the width of the terminal', async () => {
  const cwd = writeThreads()
  const [text, narrow, lines, markdown, json] = await Promise.all([
    cli(['report', '.'], { cwd }),
    cli(['report', '.', '--by', 'file'], { cwd, env: { COLUMNS: '60' } }),
    cli(['report', '.', '--by', 'line'], { cwd }),
    cli(['report', '.', '--markdown', '--by', 'package'], { cwd }),
    cli(['report', '.', '--json', '--top', '3'], { cwd }),
  ])
  for (const { code, stderr } of [text, narrow, lines, markdown, json]) {
    assert.deepEqual([code, stderr], [0, ''])
  }
  assert.equal(text.stdout, SCREEN)
  assert.equal(narrow.stdout, FILES_60_COLUMNS)
  assert.ok(lines.stdout.endsWith(LINES), lines.stdout)
  assert.equal(markdown.stdout, PACKAGES)

  /** @type {import('../../index.js').Report} */
  const { version, processes, functions, counts } = JSON.parse(json.stdout)
  assert.equal(version, 2)
  assert.deepEqual(
    processes[0].threads.map(({ name, javascriptMs }) => [name, javascriptMs]),
    [
      ['main', 56],
      ['worker 1: workers.js', 388],
      ['worker 2: workers.js', 388],
    ],
  )
  // The first by self time, and the first by total time.
  const names = functions.map(({ name }) => name)
  assert.deepEqual(names, ['spin', 'burn', 'main', 'crunch'])
  assert.equal(counts.functions, 5)
})

test('`--by` selects one list of the JSON, and one kind of the Markdown tables', async () => {
  const cwd = writeThreads()
  const options = ['report', '.', '--top', '5']
  const whole = JSON.parse((await cli([...options, '--json'], { cwd })).stdout)
  const lists = [
    'processes',
    'functions',
    'lines',
    'files',
    'packages',
    'owners',
    'labels',
    'scripts',
  ]
  const costs = (/** @type {string} */ what) => [
    `### ${what}, by self time`,
    `### ${what}, by total time`,
  ]
  const kinds = /** @type {[by: string, list: string, headings: string[]][]} */ ([
    ['thread', 'processes', ['### Processes and threads']],
    ['function', 'functions', costs('Functions')],
    ['line', 'lines', ['### Lines, by self time']],
    ['file', 'files', costs('Files')],
    ['package', 'packages', costs('Packages')],
    ['owner', 'owners', [`### Owners, ${messages.byOwner}`]],
  ])
  await Promise.all(
    kinds.map(async ([by, list, expected]) => {
      const { code, stdout, stderr } = await cli([...options, '--json', '--by', by], { cwd })
      assert.deepEqual([code, stderr], [0, ''])
      const kept = Object.entries(whole).filter(([key]) => key === list || !lists.includes(key))
      assert.deepEqual(JSON.parse(stdout), Object.fromEntries(kept))
      assert.ok(whole[list].length > 0, list)

      const markdown = await cli([...options, '--markdown', '--by', by], { cwd })
      const headings = markdown.stdout.split('\n').filter((line) => line.startsWith('#'))
      assert.deepEqual(headings, expected)
    }),
  )
})

test('inputs that cannot be read are named; exit code 1 if there are no others', async () => {
  const [nothing, empty, some] = await Promise.all([
    cli(['report', 'missing']),
    cli(['report', '.']),
    cli(['report', '.', 'missing.json'], { cwd: writeWork() }),
  ])
  assert.equal(nothing.code, 1)
  assert.match(nothing.stderr, /^cpu-prof: .*missing.*\n$/)
  assert.equal(nothing.stdout, '')
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /^cpu-prof: .+\n$/)

  assert.equal(some.code, 0)
  assert.match(some.stderr, /^cpu-prof: left out \S*missing\.json: .+\n$/)
  assert.match(
    some.stdout,
    pattern`^100 % ${messages.ofWork} spin .*\n\n500 ms · 1 process, 1 thread `,
  )
})

test('times from the end are given in any way that an option takes', async () => {
  const cwd = writeWork()
  /** @param {...string} args */
  const times = async (...args) => {
    const { code, stdout, stderr } = await cli(['report', '.', '--json', ...args], { cwd })
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    const { durationMs, totals } = JSON.parse(stdout)
    return [durationMs, totals.javascriptMs]
  }
  const forms = [['--from', '-100'], ['--from=-100'], ['--from', '-0.1s'], ['--from=-100ms']]
  const last = await Promise.all(forms.map((args) => times(...args)))
  assert.deepEqual(last, Array(forms.length).fill([100, 100]))
  assert.deepEqual(await times('--from', '-100', '--to', '-40'), [60, 60])

  const merged = await cli(['merge', '.', '-o', 'end.json', '--from', '-100ms', '--to=-40'], {
    cwd,
  })
  assert.equal(merged.code, 0, merged.stderr)
  const [file, reversed] = await Promise.all([
    cli(['report', 'end.json', '--json'], { cwd }),
    cli(['report', '.', '--from', '-40', '--to', '1'], { cwd }),
  ])
  assert.equal(JSON.parse(file.stdout).durationMs, 60)
  assert.equal(reversed.code, 1)
  assert.match(reversed.stderr, pattern`^cpu-prof: ${messages.sliceEnds}: .*; choose .*\n$`)
})

test('contradictory or invalid options are wrong usage', async () => {
  const wrong = [
    ['--json', '--markdown'],
    ['--by', 'stack'],
    ['--top', '0'],
    ['--top', 'all'],
    ['--from', 'noon'],
    ['--from', '--to'],
    ['--to', '-'],
    ['--to=--1s'],
  ]
  await Promise.all(
    wrong.map(async (args) => {
      const { code, stderr } = await cli(['report', '.', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /^cpu-prof: /)
    }),
  )
})
