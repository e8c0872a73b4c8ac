'use strict'

// The addon of lakes: a disk that is full or read only, and who loads it.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../../../../__test__/helpers/files.js')
const { runFolder, runOf } = require('../helpers/lake.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { withFileSystem } = require('../../../../__test__/helpers/mount.js')
const { writeTrace } = require('../../../../__test__/helpers/written.js')

const STORE = path.join(__dirname, '..', '..', 'base', 'store.js')

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
      cwd: temporaryDirectory(),
      env: cleanEnv(),
      encoding: 'utf8',
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

test('`lake add` on a full disk is an error, and leaves the lake as it was', async (t) => {
  const under = withFileSystem('size=64k')
  if (under === undefined) return t.skip('this user may not mount')
  const cwd = temporaryDirectory()
  const trace = writeTrace(path.join(temporaryDirectory(), 'a.trace.json'), {
    cwd,
    pid: 42,
    spans: [['main app.js:1', 300]],
  })
  const frames = Array.from(
    { length: 3000 },
    (_, i) =>
      /** @type {[string, number]} */ ([
        `main app.js:1 > f${(i * 7919) % 3000}x${i} src/${i}.js:${i + 1}`,
        1,
      ]),
  )
  const large = writeTrace(path.join(temporaryDirectory(), 'l.trace.json'), {
    cwd,
    pid: 5,
    spans: frames,
  })
  // The lake fits once, and the large run does not.
  const script = `
    "$@" lake add ${trace} --to mounted/lake --repo a/b || exit 90
    find mounted -type f | sort > before
    "$@" lake add ${large} --to mounted/lake --repo a/b; code=$?
    find mounted -type f -name '*.parquet' -path '*/functions/*' | sort > after
    exit $code`
  const shell = [...under, 'sh', '-c', script, 'sh']
  const { code, stderr } = await cli([], { cwd, under: shell })
  assert.equal(code, 1, stderr)
  assert.match(
    stderr,
    new RegExp(pattern`^cpu-prof: ${messages.notAdded} mounted/lake: .*(space|full)`, 'm'),
  )
  const functions = (/** @type {string} */ list) =>
    fs
      .readFileSync(path.join(cwd, list), 'utf8')
      .split('\n')
      .filter((file) => file.includes('/functions/'))
  assert.deepEqual(functions('after'), functions('before'))
  assert.equal(functions('after').length, 1)
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
