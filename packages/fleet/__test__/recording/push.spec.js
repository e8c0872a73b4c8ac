'use strict'

// `cpu-prof push --follow` beside a program that runs.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const test = require('node:test')
const { report } = require('../../../../index.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const {
  cleanEnv,
  temporaryDirectory,
  tracesIn,
  PACKAGE,
} = require('../../../../__test__/helpers/files.js')
const { pprofFiles, startPushServer } = require('../helpers/push-server.js')
const { until } = require('../../../../__test__/helpers/until.js')

const SERVER = `
  function work() { for (const end = Date.now() + 20; Date.now() < end; ) Math.sqrt(end) }
  setInterval(work, 25)`

test('slices of a running program are sent, and the rest of a killed one', async (t) => {
  const server = await startPushServer(t)
  const dir = temporaryDirectory()
  const env = { ...cleanEnv(), CPU_PROF_DIR: dir }
  const args = ['push', dir, '--follow', '--every', '1s', '--to', server.url, '--service', 'shop']
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let program
  t.after(() => program?.kill('SIGKILL'))
  const { code, stdout, stderr } = await cli(args, {
    during: async () => {
      // The program starts later than the command.
      program = spawn(process.execPath, ['--require', PACKAGE, '-e', SERVER], { env })
      await until(() => server.pushed.length >= 3)
      program.kill('SIGKILL')
    },
  })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^sent \d+ profiles/)
  const work = async (/** @type {string[]} */ inputs) => {
    const { functions } = await report(inputs, { top: 100 })
    const found = functions.find(({ name }) => name === 'work')
    // A server gets the time without a core as wall time of the function.
    return (found?.selfMs ?? 0) + (found?.waitingMs ?? 0) + (found?.blockedMs ?? 0)
  }
  const sentMs = await work(pprofFiles(server.pushed))
  const recordedMs = await work(tracesIn(dir))
  assert.ok(recordedMs > 1000, String(recordedMs))
  // At the border of a slice, a time without a core can count as idle. A lost slice would be a tenth.
  assert.ok(Math.abs(sentMs - recordedMs) < 0.05 * recordedMs, `${sentMs} of ${recordedMs} ms`)
})

test('a command that is ended sends what waits, and ends', async (t) => {
  const server = await startPushServer(t)
  const dir = temporaryDirectory()
  const env = { ...cleanEnv(), CPU_PROF_DIR: dir }
  const program = spawn(process.execPath, ['--require', PACKAGE, '-e', SERVER], { env })
  t.after(() => program.kill('SIGKILL'))
  const { code, signal, stderr } = await cli(
    ['push', dir, '--follow', '--every', '1s', '--to', server.url, '--quiet'],
    {
      during: async (child) => {
        await until(() => server.pushed.length >= 1)
        child.kill('SIGINT')
      },
    },
  )
  assert.deepEqual([code, signal, stderr], [0, null, ''])
})
