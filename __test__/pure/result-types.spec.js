'use strict'

// The results of the tools, as the addon makes them, have the members that index.d.ts declares.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, compare, convert, merge, report } = require('../../index.js')
const { Declared } = require('../helpers/declared.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { PROGRAMS } = require('../helpers/sentences.js')
const { recording, waited, writeProfile, writeTrace } = require('../helpers/written.js')
const { START, compiled, measure } = require('../helpers/written-events.js')

/** @typedef {import('../helpers/written.js').Recorded} Recorded */

const TSC = '/t/node_modules/typescript/lib/_tsc.js'
const ALL = { tree: true, imports: true, projects: true, stalls: 0, top: Number.POSITIVE_INFINITY }

/** @param {string} name @param {string} cat @param {number} ms @param {object} data */
const event = (name, cat, ms, data) => ({
  name,
  cat,
  ph: 'I',
  s: 't',
  ts: START + 1000 * ms,
  args: { data },
})
/** @param {number} ms @param {object} args */
const memory = (ms, args) => ({
  cat: 'cpu-prof',
  name: 'memory',
  ph: 'C',
  ts: START + ms * 1000,
  args: { heapTotal: 1, external: 0, ...args },
})
const TIMELINE = 'disabled-by-default-devtools.timeline'

/** A server that was killed in a request, with all that a recording can have beside its profile. @type {Recorded} */
const SERVER = {
  label: 'server.js',
  start: START,
  isKilled: true,
  recordingLabel: 'the label',
  pid: 7,
  ppid: 6,
  ancestors: [6],
  spans: [
    ['main server.js:1 > start node:internal/main/run:2', 100],
    [
      'main server.js:1 > hash server.js:9 > pbkdf2 node:internal/crypto/pbkdf2:40',
      200,
      { nativeMs: 430, labels: { route: '/users' } },
    ],
    ['(idle)', 100, { childrenMs: 550 }],
    ['(program)', 50],
    ['(garbage collector)', 20],
    ['main server.js:1 > parse parse.js:1:15@2 > helper types.ts:9:5@9', 30],
    ['main server.js:1 > parse parse.js:1:15@2', 30],
    [[{ name: 'work', line: 20, text: 77, compiler: 'main server.js:1' }], 30],
    ['main server.js:1 > RegExp: ^a+$', 100],
    [
      [
        { name: 'main', file: 'server.js', line: 1 },
        { name: 'f', module: '/m/libm.so' },
      ],
      50,
    ],
    ['main server.js:1@3', 100, { cpuMs: 0, waitMs: 50 }],
    ['render server.js:30@31', 150, { labels: { route: '/report' } }],
  ],
  events: [
    event('cpu-prof: stall>500ms', 'blink.user_timing', 1, {
      startTime: 1,
      detail: '{}',
      condition: { reason: 'stall>500ms', observed: '612 ms' },
    }),
    event('thread.flush', 'x', 2, { gc: { minor: 1, major: 1, us: 5000, longestUs: 4000 } }),
    ...measure('load', 10, 90),
    memory(300, { heapUsed: 100, rss: 1000 }),
    event('native.threads', TIMELINE, 500, {
      spanUs: 500_000,
      threads: [['libuv-worker', 4, 300_000]],
    }),
    memory(600, { heapUsed: 300, rss: 4000 }),
    waited('server.js (pid 7) - main', START, [700, 750]),
    event('programs.unrecorded', TIMELINE, 800, { nodes: 3, nodesUs: 300_000, othersUs: 100_000 }),
  ],
}

/** Writes the recordings of a run, and returns its folder. */
function writeRun() {
  const cwd = temporaryDirectory()
  const project = path.join(cwd, 'tsconfig.json')
  const write = (/** @type {string} */ name, /** @type {Recorded} */ recorded) =>
    writeTrace(path.join(cwd, `${name}.trace.json`), { cwd, ...recorded })
  fs.writeFileSync(
    path.join(cwd, 'parse.js'),
    'function parse(text) {\n  return JSON.parse(text)\n}\n',
  )
  fs.writeFileSync(path.join(cwd, 'types.ts'), 'export type A = string\n')
  write('npm', {
    label: 'npm',
    argv: ['run', 'start'],
    start: START - 1000,
    pid: 6,
    processStartMs: 1,
    functions: ['spawn'],
  })
  write('server', SERVER)
  write('killed', { ...SERVER, pid: 9, ppid: 7, isKilled: false, exitCode: 137, signal: 'SIGKILL' })
  write('tsc', {
    label: 'tsc',
    argv: ['-b'],
    start: START,
    pid: 8,
    ppid: 6,
    spans: [
      [`main ${TSC}:1 > createSourceFile ${TSC}:3`, 30],
      [`checkSourceFileWorker ${TSC}:9 > checkCallExpression ${TSC}:11`, 60],
    ],
    events: [
      compiled(1, 1, { project }),
      compiled(30, 90, { project, file: path.join(cwd, 'a.ts') }),
    ],
  })
  return cwd
}

/** Writes runs of a program, and returns their folder. @param {string[]} stacks of equal times */
function writeRuns(stacks) {
  const dir = temporaryDirectory()
  for (const run of [0, 1, 2, 3, 4]) {
    const spans = stacks.map((stack, at) => [
      stack.split(' > ').map((name) => (name.startsWith('RegExp') ? { name } : name)),
      100 + ((run + at) % 5),
    ])
    writeProfile(path.join(dir, `run-${run}`, 'run.cpuprofile'), /** @type {any} */ (spans))
  }
  return dir
}

test('the results have the members that the types declare, and no others', async () => {
  const declared = new Declared()
  const run = writeRun()
  fs.writeFileSync(path.join(run, 'torn.trace.json'), recording().slice(0, -300))
  const missing = path.join(run, 'missing.json')
  const inputs = [run, missing]
  const out = temporaryDirectory()
  for (const options of [
    { ...ALL, function: 'main' },
    { ...ALL, details: 5, by: /** @type {const} */ ('label:route') },
    {},
  ]) {
    declared.compare('report', await report(inputs, options))
  }
  for (const [name, { recordings }] of Object.entries(PROGRAMS)) {
    for (const [at, each] of Object.entries(recordings)) {
      writeTrace(path.join(out, name, `${at}.trace.json`), each)
    }
    declared.compare('report', await report(path.join(out, name), ALL))
  }
  declared.compare('merge', await merge(inputs, path.join(out, 'merged.json')))
  declared.compare('convert', await convert(inputs, path.join(out, 'run.pb.gz')))
  const bad = path.join(out, 'bad.json')
  fs.writeFileSync(bad, JSON.stringify({ traceEvents: Array(7).fill({ ph: 'X', ts: 'soon' }) }))
  const profile = writeProfile(path.join(out, 'a.cpuprofile'), [['work a.js:1', 10]])
  declared.compare('check', await check([...inputs, bad, profile]))
  const base = writeRuns(['each a.js:5', 'each a.js:9', 'main a.js:1 > RegExp: ^a+$'])
  const head = writeRuns([
    'each a.js:6',
    'each a.js:10',
    'main a.js:2 > RegExp: ^(a|a)+$',
    'more b.js:2',
  ])
  fs.writeFileSync(path.join(base, 'run-0', 'other.trace.json'), 'other')
  const failOn = ['function:more>1ms', 'package:absent>1%']
  declared.compare('compare', await compare(base, head, { failOn }))
  declared.compare('compare', await compare(base, head, { shares: true }))
  assert.deepEqual(declared.problems, [])
  assert.deepEqual(declared.unseen(['report', 'merge', 'convert', 'check', 'compare']), [])
})

test('the comparison finds members of wrong types, without types, and missing ones', () => {
  const declared = new Declared()
  const failed = [{ file: 'a', reason: 'it is gone', line: 1 }]
  declared.compare('convert', { files: [1], repaired: null, failed })
  assert.deepEqual(declared.problems, [
    'convert.files[] is 1, not string',
    'convert.repaired is null, not string[]',
    'convert.failed[].line is not in { file: string; reason: string; }',
    'convert.notes is missing',
  ])
  assert.deepEqual(declared.unseen(['convert']), ['ConvertResult.notes'])
})
