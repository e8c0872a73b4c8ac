'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory, FIXTURES } = require('../helpers/run.js')

/** Runs a program that computes in a function of the given name. @param {string} cwd @param {string} name @param {string[]} [options] */
async function record(cwd, name, options = []) {
  const spin = JSON.stringify(path.join(FIXTURES, 'spin.js'))
  const source = `function ${name}() { return require(${spin}).spin(100) }; ${name}()`
  const { code, stderr } = await cli(
    ['run', ...options, '--', process.execPath, '-e', source, name],
    { cwd },
  )
  assert.equal(code, 0, stderr)
}

/**
 * Reports as JSON. Returns the names of the recorded functions, and what was said.
 * @param {string} cwd @param {string[]} args
 */
async function reported(cwd, ...args) {
  const { code, stdout, stderr } = await cli(['report', ...args, '--json', '--top', '1000'], {
    cwd,
  })
  assert.equal(code, 0, stderr)
  const result = JSON.parse(stdout)
  const names = result.functions.map((/** @type {{ name: string }} */ { name }) => name)
  const own = names.filter((/** @type {string} */ name) => /^run[A-Z]$/.test(name))
  return { names: own.sort(), stderr, processes: result.processes.length, result }
}

/** Returns the folders of the runs, the oldest first. @param {string} cwd */
function runsIn(cwd) {
  const names = fs.readdirSync(path.join(cwd, 'profiles'))
  return names.filter((name) => /^\d/.test(name)).sort()
}

test('of several runs in a folder the last is reported, and all with --all', async () => {
  const cwd = temporaryDirectory()
  await record(cwd, 'runA')
  const alone = await reported(cwd, 'profiles')
  assert.deepEqual([alone.names, alone.stderr], [['runA'], ''])

  // A folder without a recording is no run.
  const [first] = runsIn(cwd)
  fs.renameSync(path.join(cwd, 'profiles', first), path.join(cwd, 'profiles', '20200101.101010.9'))
  fs.mkdirSync(path.join(cwd, 'profiles', '20200101.101010.10'))
  await record(cwd, 'runB', ['--keep-recordings'])
  const last = `profiles/${runsIn(cwd).at(-1)}`
  const line = `cpu-prof: the last of 2 runs: ${last} (all of them: --all)\n`
  const both = await reported(cwd, 'profiles')
  assert.deepEqual(both.names, ['runB'])
  assert.ok(both.stderr.startsWith(line), both.stderr)
  assert.equal(both.processes, 1)

  const all = await reported(cwd, 'profiles', '--all')
  assert.deepEqual(all.names, ['runA', 'runB'])
  assert.doesNotMatch(all.stderr, /the last of/)
  assert.equal(all.processes, 2)
  // The kept recordings and the trace beside them count once.
  const once = await reported(cwd, `${last}/trace.json`)
  assert.equal(busyUs(all), busyUs(alone) + busyUs(once))
  assert.equal(busyUs(both), busyUs(once))

  // Each is still reported by its own path.
  const named = await reported(cwd, 'profiles/20200101.101010.9')
  assert.deepEqual([named.names, named.stderr], [['runA'], ''])
  const listed = await reported(cwd, 'profiles/20200101.101010.9', last)
  assert.deepEqual(listed.names, ['runA', 'runB'])
})

/** @param {{ result: import('../../index.js').Report }} report */
function busyUs({ result }) {
  return Math.round(result.totals.busyMs * 1000)
}

test('of runs in one second the last has the highest process id', async () => {
  const cwd = temporaryDirectory()
  await record(cwd, 'runA')
  const [made] = runsIn(cwd)
  const profiles = path.join(cwd, 'profiles')
  fs.renameSync(path.join(profiles, made), path.join(profiles, '20200101.101010.9'))
  fs.cpSync(path.join(profiles, '20200101.101010.9'), path.join(profiles, '20200101.101010.10'), {
    recursive: true,
  })
  const { stderr } = await reported(cwd, 'profiles')
  assert.match(stderr, /^cpu-prof: the last of 2 runs: profiles\/20200101\.101010\.10 \(/)
})

test('the runs of one --dir are told by their traces', async () => {
  const cwd = temporaryDirectory()
  await record(cwd, 'runA', ['--dir', 'out'])
  await record(cwd, 'runB', ['--dir', 'out'])
  const last = await reported(cwd, 'out')
  assert.deepEqual(last.names, ['runB'])
  assert.equal(last.stderr, 'cpu-prof: the last of 2 runs: out/trace.2.json (all of them: --all)\n')
  assert.deepEqual((await reported(cwd, 'out', '--all')).names, ['runA', 'runB'])

  // The first number that is free goes to the next run.
  fs.rmSync(path.join(cwd, 'out', 'trace.json'))
  await record(cwd, 'runC', ['--dir', 'out', '--keep-recordings'])
  const reused = await reported(cwd, 'out')
  assert.deepEqual(reused.names, ['runC'])
  assert.match(reused.stderr, /^cpu-prof: the last of 2 runs: out\/trace\.json \(all of them, and /)
  // The trace of the run without recordings is not lost beside those of the other.
  const all = await reported(cwd, 'out', '--all')
  assert.deepEqual([all.names, all.processes], [['runB', 'runC'], 2])
})

test('recordings beside the runs, and folders that are no runs, are part of --all', async () => {
  const cwd = temporaryDirectory()
  await record(cwd, 'runA')
  await record(cwd, 'runB', ['--dir', 'profiles/named', '--no-merge'])
  const one = await reported(cwd, 'profiles')
  assert.deepEqual([one.names, one.stderr], [['runA', 'runB'], ''])

  await record(cwd, 'runC')
  const last = await reported(cwd, 'profiles')
  assert.deepEqual(last.names, ['runC'])
  const line =
    /^cpu-prof: the last of 2 runs: \S+ \(all of them, and the recordings beside them: --all\)\n$/
  assert.match(last.stderr, line)
  assert.deepEqual((await reported(cwd, 'profiles', '--all')).names, ['runA', 'runB', 'runC'])

  await record(cwd, 'runD', ['--dir', 'profiles', '--no-merge'])
  assert.deepEqual((await reported(cwd, 'profiles')).names, ['runC'])
  const all = await reported(cwd, 'profiles', '--all')
  assert.deepEqual([all.names, all.processes], [['runA', 'runB', 'runC', 'runD'], 4])
})

test('the parts of a split merge are one trace', async () => {
  const cwd = temporaryDirectory()
  await record(cwd, 'runA', ['--output', 'parts/trace.1.json'])
  await record(cwd, 'runB', ['--output', 'parts/trace.2.json'])
  const { names, stderr } = await reported(cwd, 'parts')
  assert.deepEqual([names, stderr], [['runA', 'runB'], ''])
})
