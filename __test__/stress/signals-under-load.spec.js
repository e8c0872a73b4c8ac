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
      const program = ['-e', `process.kill(process.pid, 'SIGTERM'); ${end}`]
      // Several at once have more of the cores than the load leaves for one.
      for (let round = 0; round < 3; round++) {
        const results = await Promise.all(Array.from({ length: 4 }, () => run(program)))
        for (const { code, signal } of results) assert.deepEqual([code, signal], [null, 'SIGTERM'])
      }
    }
  } finally {
    for (const child of load) child.kill('SIGKILL')
  }
})
