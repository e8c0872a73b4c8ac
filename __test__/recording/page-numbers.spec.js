'use strict'

// The numbers of the HTML report are those of report(), for a run of many processes in all states.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../..')
const { costsOf } = require('../../cli/page/data/costs.js')
const { STATES, readRecording } = require('../../cli/page/data/recording.js')
const { readState, threadsOf } = require('../../cli/page/state.js')
const { pageData } = require('../../lib/offline.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** Children that work and collect garbage, of which the last is waited for in a blocked call; and a worker. */
const PROGRAM = `
  const { spawn, spawnSync } = require('node:child_process')
  const { Worker, isMainThread } = require('node:worker_threads')
  const { spin } = require(${SPIN})
  const litter = () => { let list = []; for (let i = 0; i < 3e5; i++) list.push({ i, text: 'x' + i }); return list.length }
  if (!isMainThread || process.argv[2] === 'child') {
    litter()
    spin(300)
    JSON.parse(JSON.stringify(Array.from({ length: 1e5 }, (_, i) => ({ i }))))
    setTimeout(() => spin(100), 50)
  } else {
    const ended = [1, 2, 3, 4].map(() => new Promise((resolve) =>
      spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' }).on('exit', resolve)))
    ended.push(new Promise((resolve) => new Worker(__filename).on('exit', resolve)))
    spin(200)
    spawnSync(process.execPath, [__filename, 'child'], { stdio: 'inherit' })
    Promise.all(ended).then(() => spin(100))
  }`

/** How far the page's own sums of samples may be off: parts of samples in which a thread waited are rounded. */
const ROUNDING_MS = 1
const ROUNDING = 0.002

/** @param {any} costs @param {number} item */
const timesOf = (costs, item) =>
  Object.fromEntries(
    ['self', 'total', 'blocked', 'waiting', 'critical'].map((time) => [
      `${time}Ms`,
      costs[time][item] / 1000,
    ]),
  )

test('the page has the numbers of report() for a run of many processes', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'main.js'), PROGRAM)
  const { files, code, stderr } = await run(['./main.js'], {
    cwd,
    preload: null,
    env: { NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}` },
  })
  assert.equal(code, 0, stderr)
  const whole = await report(files, { top: Number.POSITIVE_INFINITY })
  assert.equal(whole.processes.length, 6)
  const recording = readRecording(JSON.parse(await pageData(files, {})))
  assert.equal(recording.sentence, whole.sentence)
  assert.deepEqual(recording.chain, whole.chain)
  const threads = threadsOf(readState('', recording), recording)
  for (const isWhole of [true, false]) {
    const span = { fromUs: 0, toUs: recording.durationUs }
    const costs = costsOf(recording, threads, span, isWhole)
    const close = (
      /** @type {number} */ ms,
      /** @type {number} */ expected,
      /** @type {string} */ what,
    ) =>
      assert.ok(
        Math.abs(ms - expected) <= (isWhole ? 0.002 : ROUNDING_MS + ROUNDING * expected),
        `${what}: ${ms}, ${expected}`,
      )
    for (const [index, us] of Array.from(costs.states).entries()) {
      const state = STATES[index]
      const all = /** @type {any} */ (whole.totals)
      close(us / 1000, all[`${state}Ms`] ?? 0, state)
    }
    const { names, filePaths, packages, ownerNames, ownerKinds, lines, columns } = recording
    const sameFile = (/** @type {string} */ one, /** @type {string} */ other) =>
      one === other || one.endsWith(`/${other}`)
    /** @type {[string, any, any[], (row: any, item: number) => boolean][]} */
    const tables = [
      [
        'functions',
        costs.functionCosts,
        names,
        (row, item) =>
          row.name === names[item] &&
          row.line === lines[item] &&
          row.column === columns[item] &&
          sameFile(row.file, filePaths[recording.files[item]] ?? ''),
      ],
      ['files', costs.fileCosts, filePaths, (row, item) => sameFile(row.file, filePaths[item])],
      ['packages', costs.packageCosts, packages, (row, item) => row.name === packages[item]],
      [
        'owners',
        costs.ownerCosts,
        ownerNames,
        (row, item) => row.name === ownerNames[item] && row.kind === ownerKinds[item],
      ],
    ]
    for (const [table, columnsOfTable, items, isSame] of tables) {
      for (const row of /** @type {any} */ (whole)[table]) {
        const item = items.findIndex((_, item) => isSame(row, item))
        assert.notEqual(item, -1, `${table}: ${JSON.stringify(row)}`)
        for (const [time, ms] of Object.entries(timesOf(columnsOfTable, item))) {
          close(ms, row[time], `${table} ${row.name ?? row.file} ${time}`)
        }
      }
    }
  }
})
