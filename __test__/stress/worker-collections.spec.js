'use strict'

// Workers under collections: the shape of a public report in which another profiler crashes half of the runs.
// COLLECTION_RUNS sets the count of runs of each kind.

const assert = require('node:assert/strict')
const test = require('node:test')
const { run } = require('../helpers/run.js')

const RUNS = Number(process.env.COLLECTION_RUNS ?? 3)
const WORKERS = 12

const SETTINGS = [
  { CPU_PROF_INTERVAL: '1000', CPU_PROF_FLUSH_INTERVAL: '20' },
  { CPU_PROF_INTERVAL: '10000' },
  { CPU_PROF_INTERVAL: '1000', CPU_PROF_CATEGORIES: '+native,http' },
]

for (const kind of ['plain', 'label']) {
  for (const env of SETTINGS) {
    const settings = Object.values(env).join(' ')
    test(`${RUNS} runs of ${WORKERS} workers that allocate (${kind}, ${settings})`, async () => {
      for (let number = 0; number < RUNS; number++) {
        const args = ['worker-collections.js', String(WORKERS), kind]
        const { code, signal, stdout, stderr, traces } = await run(args, { env })
        assert.deepEqual([code, signal, stderr], [0, null, ''])
        const third = WORKERS / 3
        const expected = { natural: third, exit: third, terminated: third, wrong: 0 }
        assert.deepEqual(JSON.parse(stdout), expected)
        const threads = traces.filter(({ tid }) => tid <= WORKERS)
        assert.equal(threads.length, WORKERS + 1)
        assert.ok(threads.every(({ ended }) => ended))
      }
    })
  }
}
