'use strict'

// Reports on folders of several runs, as `cpu-prof run` leaves them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeTrace } = require('../helpers/written.js')

/** A program that ran: a function that worked so many milliseconds. @typedef {{ name: string, ms: number, pid: number }} Program */

// Programs that started later have higher ids.
const A = { name: 'runA', ms: 30, pid: 1001 }
const B = { name: 'runB', ms: 40, pid: 1002 }
const C = { name: 'runC', ms: 50, pid: 1003 }
const D = { name: 'runD', ms: 60, pid: 1004 }

/** Writes the recording of a program, as `--no-merge` leaves it. @param {string} folder @param {Program} program */
function writeRecording(folder, { name, ms, pid }) {
  const file = path.join(folder, `CPU.20260101.101010.${pid}.0.001.trace.json`)
  const start = pid * 1e6
  return writeTrace(file, { pid, start, argv: [name], spans: [[`${name} main.js:1`, ms]] })
}

/**
 * Writes the trace of a run, with its recording beside it if `--keep-recordings` was given.
 * @param {string} trace @param {Program} program @param {'--keep-recordings'} [kept]
 */
async function writeRun(trace, program, kept) {
  const folder = path.dirname(trace)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, '.gitignore'), '*\n')
  await merge(writeRecording(kept ? folder : temporaryDirectory(), program), trace)
  fs.utimesSync(trace, program.pid, program.pid)
}

/**
 * Reports as JSON. Returns the names and times of the recorded functions, and what was said.
 * @param {string} cwd @param {string[]} args
 */
async function reported(cwd, ...args) {
  const { code, stdout, stderr } = await cli(['report', ...args, '--json'], { cwd })
  assert.equal(code, 0, stderr)
  /** @type {import('../../index.js').Report} */
  const { functions, processes, totals } = JSON.parse(stdout)
  const times = Object.fromEntries(functions.map(({ name, selfMs }) => [name, selfMs]))
  return { times, stderr, processes: processes.length, workMs: totals.javascriptMs }
}

/** Returns the times in a report on programs. @param {Program[]} programs */
const timesOf = (...programs) => Object.fromEntries(programs.map(({ name, ms }) => [name, ms]))

const AND_RECORDINGS = ', and the recordings beside them'

/** Returns the line that names the last run. @param {number} count @param {string} run @param {string} [rest] */
function lastOf(count, run, rest = '') {
  return `cpu-prof: the last of ${count} runs: ${run} (all of them${rest}: --all)\n`
}

/** @param {string} trace */
const leftOut = (trace) => `cpu-prof: ${trace}: ${messages.leftOut('a merged trace')}\n`

test('of several runs in a folder the last is reported, and all with --all', async () => {
  const cwd = temporaryDirectory()
  const [first, last] = ['profiles/20200101.101010.9', 'profiles/20260101.101010.8']
  await writeRun(path.join(cwd, first, 'trace.json'), A)
  // A folder without a recording is no run.
  fs.mkdirSync(path.join(cwd, 'profiles', '20270101.101010.10'))
  const alone = await reported(cwd, 'profiles')
  assert.deepEqual(alone, { times: timesOf(A), stderr: '', processes: 1, workMs: A.ms })

  await writeRun(path.join(cwd, last, 'trace.json'), B, '--keep-recordings')
  const [both, all, once, named, listed] = await Promise.all([
    reported(cwd, 'profiles'),
    reported(cwd, 'profiles', '--all'),
    reported(cwd, `${last}/trace.json`),
    reported(cwd, first),
    reported(cwd, first, last),
  ])
  const kept = leftOut(`${last}/trace.json`)
  const ofB = { times: timesOf(B), processes: 1, workMs: B.ms }
  assert.deepEqual(both, { ...ofB, stderr: lastOf(2, last) + kept })
  // The kept recordings and the trace beside them count once.
  const ofAll = { times: timesOf(A, B), stderr: kept, processes: 2, workMs: A.ms + B.ms }
  assert.deepEqual(all, ofAll)
  assert.deepEqual(once, { ...ofB, stderr: '' })
  // Each is still reported by its own path.
  assert.deepEqual(named, alone)
  assert.deepEqual(listed, ofAll)
})

test('of runs in one second the last has the highest process id', async () => {
  const cwd = temporaryDirectory()
  await writeRun(path.join(cwd, 'profiles/20200101.101010.9/trace.json'), A)
  await writeRun(path.join(cwd, 'profiles/20200101.101010.10/trace.json'), B)
  const { times, stderr } = await reported(cwd, 'profiles')
  assert.deepEqual([times, stderr], [timesOf(B), lastOf(2, 'profiles/20200101.101010.10')])
})

test('the runs of one --dir are told by their traces', async () => {
  const cwd = temporaryDirectory()
  await writeRun(path.join(cwd, 'out/trace.json'), A)
  await writeRun(path.join(cwd, 'out/trace.2.json'), B)
  const [last, both] = await Promise.all([reported(cwd, 'out'), reported(cwd, 'out', '--all')])
  assert.deepEqual([last.times, last.stderr], [timesOf(B), lastOf(2, 'out/trace.2.json')])
  assert.deepEqual([both.times, both.stderr], [timesOf(A, B), ''])

  // The first number that is free goes to the next run.
  await writeRun(path.join(cwd, 'out/trace.json'), C, '--keep-recordings')
  const [reused, all] = await Promise.all([reported(cwd, 'out'), reported(cwd, 'out', '--all')])
  assert.deepEqual(reused.times, timesOf(C))
  assert.equal(reused.stderr, lastOf(2, 'out/trace.json', AND_RECORDINGS))
  // The trace of the run without recordings is not lost beside those of the other.
  assert.deepEqual([all.times, all.processes, all.workMs], [timesOf(B, C), 2, B.ms + C.ms])
})

test('recordings beside the runs, and folders that are no runs, are part of --all', async () => {
  const cwd = temporaryDirectory()
  const profiles = path.join(cwd, 'profiles')
  await writeRun(path.join(profiles, '20260101.101010.7/trace.json'), A)
  writeRecording(path.join(profiles, 'named'), B)
  const one = await reported(cwd, 'profiles')
  assert.deepEqual([one.times, one.stderr], [timesOf(A, B), ''])

  const run = 'profiles/20260101.101010.9'
  await writeRun(path.join(cwd, run, 'trace.json'), C)
  const [last, three] = await Promise.all([
    reported(cwd, 'profiles'),
    reported(cwd, 'profiles', '--all'),
  ])
  const line = lastOf(2, run, AND_RECORDINGS)
  assert.deepEqual([last.times, last.stderr], [timesOf(C), line])
  assert.deepEqual([three.times, three.stderr], [timesOf(A, B, C), ''])

  writeRecording(profiles, D)
  const [still, all] = await Promise.all([
    reported(cwd, 'profiles'),
    reported(cwd, 'profiles', '--all'),
  ])
  assert.deepEqual([still.times, still.stderr], [timesOf(C), line])
  assert.deepEqual([all.times, all.stderr, all.processes], [timesOf(A, B, C, D), '', 4])
})

test('without an input the last run of the folder where runs are is reported', async () => {
  const cwd = temporaryDirectory()
  for (const options of [[], ['--all'], ['--html', 'page.html']]) {
    const nothing = await cli(['report', ...options], { cwd })
    assert.deepEqual([nothing.code, nothing.stdout], [1, ''])
    assert.match(
      nothing.stderr,
      pattern`^cpu-prof: ${messages.noRun} profiles: record one with cpu-prof run <command>, or name files`,
    )
  }
  assert.deepEqual(fs.readdirSync(cwd), [])

  const [first, last] = ['profiles/20260101.101010.8', 'profiles/20260101.101011.9']
  await writeRun(path.join(cwd, first, 'trace.json'), A)
  const only = await reported(cwd)
  assert.deepEqual([only.times, only.stderr], [timesOf(A), `cpu-prof: the only run: ${first}\n`])
  await writeRun(path.join(cwd, last, 'trace.json'), B)
  const [one, two] = await Promise.all([reported(cwd), reported(cwd, '--all')])
  assert.deepEqual([one.times, one.stderr], [timesOf(B), lastOf(2, last)])
  assert.deepEqual([two.times, two.stderr], [timesOf(A, B), ''])

  writeRecording(path.join(cwd, 'elsewhere'), C)
  const env = { CPU_PROF_DIR: 'elsewhere' }
  const { stdout, stderr } = await cli(['report', '--json'], { cwd, env })
  assert.equal(stderr, 'cpu-prof: the recordings in elsewhere\n')
  assert.deepEqual(
    JSON.parse(stdout).functions.map((/** @type {{ name: string }} */ { name }) => name),
    [C.name],
  )
})
