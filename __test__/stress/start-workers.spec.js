'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { NEEDS_TO_REACH_WORKERS } = require('../helpers/source.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

test('a hundred workers are recorded or leave no file, and end normally', {
  skip: NEEDS_TO_REACH_WORKERS,
}, async () => {
  const file = path.join(temporaryDirectory(), 'program.js')
  const source = `
    const { readdirSync } = require('node:fs')
    const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads')
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${SPIN})

    /** Resolves once so many traces exist: those of the main thread and of the workers that stay. */
    async function files(count) {
      const existing = () => readdirSync('.').filter((name) => name.endsWith('.trace.json'))
      for (const end = Date.now() + 60_000; existing().length < count; ) {
        if (Date.now() > end) throw new Error('only these traces exist: ' + existing())
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }

    async function main() {
      prof.start()
      const stays = []
      const codes = Promise.all(Array.from({ length: 100 }, (_, i) => new Promise((resolve) => {
        const worker = new Worker(__filename, { workerData: i % 5 === 1 }).on('exit', resolve)
        if (i % 5 === 0) setTimeout(() => worker.terminate(), i)
        if (i % 5 === 1) stays.push(worker)
      })))
      await files(21)
      for (const worker of stays) worker.postMessage('end')
      const isNormal = (await codes).every((code, i) => code === 0 || i % 5 === 0)
      console.log(prof.stop().files.length, isNormal)
    }

    if (isMainThread) main()
    else {
      spin(30)
      if (workerData) parentPort.once('message', () => {})
    }`
  fs.writeFileSync(file, source)
  const { code, stdout, stderr, files } = await run([file], { preload: null, read: 20 })
  assert.equal(stderr, '')
  assert.equal(code, 0)
  // There are at least these: the program waits for them.
  assert.ok(files.length >= 21)
  assert.equal(stdout, `${files.length} true\n`)
})
