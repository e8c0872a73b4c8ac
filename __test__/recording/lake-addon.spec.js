'use strict'

// The addon of lakes: a disk that is full or read only, and who loads it.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const test = require('node:test')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { runFolder, runOf } = require('../helpers/lake.js')
const { withFileSystem } = require('../helpers/mount.js')

const STORE = path.join(PACKAGE, 'cli', 'fleet', 'store.js')

test('a disk that is full or read only: an error, and nothing half', async (t) => {
  const program = `
    const { openStore } = require(${JSON.stringify(STORE)})
    const [small, large] = process.argv.slice(1).map((text) => JSON.parse(text))
    const store = openStore('mounted/lake')
    const told = ({ message }) => message
    const add = (run) => store.addRun(run).then(({ outcome }) => outcome, told)
    const live = () => store.live({ tables: ['functions'] }).then(({ partitions }) => partitions.length, told)
    add(small).then((first) => add(large).then(async (second) => {
      const unfinished = () => require('fs').readdirSync('mounted', { recursive: true }).filter((file) => file.includes('#'))
      const left = first === 'added' ? unfinished() : []
      console.log(JSON.stringify([first, second, await live(), left]))
    }))`
  const runs = [runOf(1), { ...runOf(2), date: '2026-02-01', folder: runFolder('', 100_000) }]
  /** @param {string} options of the mount */
  const onDisk = (options) => {
    const under = withFileSystem(options)
    if (under === undefined) return undefined
    const args = [
      ...under.slice(1),
      process.execPath,
      '-e',
      program,
      ...runs.map((run) => JSON.stringify(run)),
    ]
    const ended = spawnSync(under[0], args, {
      ...{ cwd: temporaryDirectory(), env: cleanEnv(), encoding: 'utf8' },
    })
    return JSON.parse(ended.stdout || JSON.stringify(ended.stderr))
  }
  const full = onDisk('size=300k')
  if (full === undefined) return t.skip('this user may not mount')
  const [first, second, days, left] = full
  assert.equal(first, 'added')
  assert.match(second, /cannot be written: .*[Nn]o space left.*; make room on the disk/)
  assert.deepEqual([days, left], [1, []])
  assert.match(onDisk('ro')[0], /cannot be made: .*[Rr]ead-only file system.*; take another folder/)
})

test('a recorded program does not load the addon of lakes, and neither does a report', () => {
  const cwd = temporaryDirectory()
  const program = `
    process.on('exit', () => {
      const addons = Object.keys(require.cache).filter((file) => file.endsWith('.node'))
      console.log(JSON.stringify(addons.map((file) => require('path').basename(file).split('.')[0])))
    })
    if (process.argv[1]) require(process.argv[1]).report('.').catch(() => {})`
  /** @param {string[]} args */
  const addonsOf = (args) =>
    JSON.parse(
      spawnSync(process.execPath, args, { cwd, env: cleanEnv(), encoding: 'utf8' }).stdout,
    ).sort()
  assert.deepEqual(addonsOf(['--require', PACKAGE, '-e', program]), ['cpu-prof'])
  assert.deepEqual(addonsOf(['-e', program, PACKAGE]), ['cpu-prof-tools'])
})
