'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const os = require('node:os')
const test = require('node:test')
const { run } = require('../helpers/run.js')
const { NEEDS_WAKE_UP } = require('../helpers/source.js')

test('a program that sends itself a signal and ends at once dies of the signal', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const load = Array.from({ length: 4 * os.cpus().length }, () =>
    spawn(process.execPath, ['-e', 'while (true);'], { stdio: 'ignore' }),
  )
  try {
    for (const end of ['', 'process.exit(0)']) {
      for (let round = 0; round < 12; round++) {
        const { code, signal } = await run(['-e', `process.kill(process.pid, 'SIGTERM'); ${end}`])
        assert.deepEqual([code, signal], [null, 'SIGTERM'])
      }
    }
  } finally {
    for (const child of load) child.kill('SIGKILL')
  }
})
