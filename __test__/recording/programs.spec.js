'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { endLiving, watchProcesses } = require('../../scripts/programs/processes.js')
const { runSession } = require('../../scripts/programs/session.js')
const { temporaryDirectory, cleanEnv } = require('../helpers/files.js')
const { until } = require('../helpers/until.js')

// How scripts/programs.js runs a command and sees its processes, without a recording.

test('processes are seen, also one that has lost its parent', async () => {
  const dir = temporaryDirectory()
  const watch = watchProcesses(dir)
  const done = path.join(dir, 'done')
  const daemon = `require('node:child_process').spawn(process.execPath,
    ['-e', 'setTimeout(() => {}, 60000)'], { detached: true, stdio: 'ignore' }).unref()`
  const wait = `setInterval(() => { if (require('node:fs').existsSync('done')) process.exit() }, 10)`
  const child = spawn(process.execPath, ['-e', `${daemon}; ${wait}`], { cwd: dir, env: cleanEnv() })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const nodes = () => watch.all.filter(({ firstMs }) => firstMs !== undefined)
  await until(() => nodes().length === 2)
  assert.equal(watch.living().length, 2)
  fs.writeFileSync(done, '')
  await ended
  await until(() => watch.living().length === 1)
  assert.equal(nodes().length, 2, JSON.stringify(watch.all))
  const [first, second] = nodes()
  assert.equal(first.pid, child.pid)
  assert.deepEqual(
    watch.living().map((seen) => seen?.pid),
    [second.pid],
  )
  await endLiving(watch)
  await until(() => watch.living().length === 0)
  watch.stop()
})

test('a command in a terminal sees Ctrl-C, and its exit code is kept', async () => {
  const code = `
    process.on('SIGINT', () => process.exit(process.stdout.isTTY && process.stdout.columns === 120 ? 7 : 8))
    console.log('started')
    setTimeout(() => {}, 60000)`
  const dir = temporaryDirectory()
  const outcome = await runSession([process.execPath, '-e', code], {
    dir,
    cwd: dir,
    env: cleanEnv(),
    steps: { started: /started/g },
  })
  assert.equal(outcome.code, 7, outcome.stdout)
  assert.deepEqual(outcome.starts, [1])
})
