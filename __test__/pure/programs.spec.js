'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { compare } = require('../../scripts/programs/compare.js')
const { PROGRAMS } = require('../../scripts/programs/programs.js')

// The comparisons of scripts/programs.js: they must find every kind of harm.

const RUNNER = '/p/bin/cpu-prof.js'

/** @type {import('../../scripts/programs/programs.js').Program} */
const PROGRAM = {
  name: 'p',
  version: '1',
  files: {},
  command: ['p'],
  processes: 1,
  code: 3,
  prints: /built/,
  steps: { started: /started/g, change: 'a.js' },
}

/** @param {Partial<import('../../scripts/programs/compare.js').Result>} [changed] */
function result(changed) {
  const processes = [
    { pid: 9, parent: 10, command: 'stty rows 40', aliveMs: 10, cpuMs: 0 },
    {
      pid: 10,
      parent: 1,
      command: `node ${RUNNER} run p`,
      aliveMs: 900,
      firstMs: 20,
      lastMs: 900,
      cpuMs: 90,
    },
    { pid: 11, parent: 10, command: 'node p', aliveMs: 500, firstMs: 100, lastMs: 500, cpuMs: 90 },
    {
      pid: 12,
      parent: 11,
      command: 'node short',
      aliveMs: 140,
      firstMs: 100,
      lastMs: 140,
      cpuMs: 40,
    },
    {
      pid: 13,
      parent: 11,
      command: 'node late',
      aliveMs: 900,
      firstMs: 480,
      lastMs: 900,
      cpuMs: 90,
    },
    { pid: 14, parent: 11, command: 'esbuild', aliveMs: 500, cpuMs: 90 },
  ]
  const stdout = `built by ${11} in 1.5 s\r\n`
  return {
    code: 3,
    signal: null,
    stdout,
    stderr: '',
    starts: [1, 2],
    changes: '',
    processes,
    ...changed,
  }
}

/** @param {Partial<import('../../scripts/programs/compare.js').Result>} [changed] @param {number[]} [pids] */
function problems(changed, pids = [11]) {
  const trace = { pids: new Set(pids), runner: RUNNER, startMs: 40 }
  return compare(PROGRAM, result(), result(changed), trace).problems
}

test('a run that does the same has no problems, and a short or a late process is not expected', () => {
  assert.deepEqual(problems(), [])
  assert.deepEqual(problems({ stdout: '\x1b[1mbuilt\x1b[0m by 12 in 300ms\n' }), [])
})

test('on a busy machine a process that ends before a Node has started is not expected', () => {
  const trace = { pids: new Set([]), runner: RUNNER, startMs: 450 }
  const found = compare(PROGRAM, result(), result(), trace)
  assert.deepEqual(found.problems, ['0 processes seen instead of 1 or more'])
})

test('every kind of harm is a problem', () => {
  assert.deepEqual(problems({}, []), ['not in the trace: node p (400 ms, CPU time 90 ms)'])
  assert.match(problems({ code: 0 }).join(), /ends with exit code 0 instead of exit code 3/)
  assert.match(problems({ code: null, signal: 'SIGINT' }).join(), /ends with SIGINT/)
  assert.match(problems({ stdout: 'built by 99 in 1 s\n' }).join(), /stdout differs/)
  assert.match(problems({ stderr: 'a warning\n' }).join(), /stderr differs:\n\+ a warning/)
  assert.match(problems({ starts: [2, 3] }).join(), /starts: 2,3/)
  assert.match(problems({ changes: '?? a.js\n' }).join(), /project:\n\?\? a.js/)
  assert.match(problems({ processes: [] }).join(), /0 processes seen/)
  assert.match(problems({ problem: 'no end after 9 s' }).join(), /no end/)
})

test('only the named process may be missing', () => {
  const named = { ...PROGRAM, notRecorded: /^node p$/ }
  const trace = { pids: new Set([]), runner: RUNNER, startMs: 40 }
  assert.deepEqual(compare(named, result(), result(), trace).problems, [])
  const other = { ...PROGRAM, notRecorded: /^node q$/ }
  assert.equal(compare(other, result(), result(), trace).problems.length, 1)
})

test('two runs that fail in the same way prove nothing', () => {
  const failed = result({ code: 127, stdout: '', stderr: 'not found\n' })
  const trace = { pids: new Set([11]), runner: RUNNER, startMs: 40 }
  const found = compare(PROGRAM, failed, failed, trace).problems
  assert.match(found.join(), /without the profiler: ends with exit code 127/)
  assert.match(found.join(), /does not print/)
})

test('the names of the programs differ', () => {
  assert.equal(new Set(PROGRAMS.map(({ name }) => name)).size, PROGRAMS.length)
})
