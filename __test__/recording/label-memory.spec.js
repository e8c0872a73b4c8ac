'use strict'

// What labels keep: nothing in a process that nobody records, and a bounded memory in one that is recorded.

const assert = require('node:assert/strict')
const test = require('node:test')
const { run, PACKAGE } = require('../helpers/run.js')

/** The most that labels may add to what contexts of AsyncLocalStorage take, MB. */
const MOST_MB = 8

const skip = process.platform !== 'linux' && 'labels are recorded on Linux'

/**
 * Returns the resident memory of a program after each quarter of a million sets that are all different, MB.
 * @param {{ labels: boolean, isRecorded: boolean, length: number }} given `length` of the values
 */
async function residentMb({ labels, isRecorded, length }) {
  const count = length > 100 ? 100_000 : 1_000_000
  const source = `
    const { AsyncLocalStorage } = require('node:async_hooks')
    const prof = require(${JSON.stringify(PACKAGE)})
    const storage = new AsyncLocalStorage()
    if (${isRecorded}) prof.start({ dir: 'profiles' })
    const empty = () => {}
    const text = 'x'.repeat(${length})
    const enter = ${labels} ? prof.label : (labels, fn) => storage.run(labels, fn)
    const resident = []
    for (let i = 0; i < ${count}; i++) {
      enter({ a: text + i, b: text + i }, empty)
      if ((i + 1) % ${count / 4} === 0) {
        gc()
        resident.push(process.memoryUsage().rss / 1e6)
      }
    }
    if (${isRecorded}) prof.stop()
    process.stdout.write(JSON.stringify(resident))`
  // The young generation of V8's heap would grow with the garbage of either.
  const args = ['--expose-gc', '--max-semi-space-size=1', '-e', source]
  const { code, stdout, stderr } = await run(args, { preload: null, read: 0 })
  assert.equal(code, 0, stderr)
  return /** @type {number[]} */ (JSON.parse(stdout))
}

for (const isRecorded of [false, true]) {
  for (const length of [1, 240]) {
    const what = `${isRecorded ? 'recorded' : 'not recorded'}, values of ${length} characters`
    test(`a million label sets: ${what}`, { skip }, async () => {
      const base = await residentMb({ labels: false, isRecorded, length })
      const labelled = await residentMb({ labels: true, isRecorded, length })
      const [early, last] = [labelled[1], labelled[3]]
      const text = `${labelled.map(Math.round).join(', ')} MB, without labels ${base.map(Math.round).join(', ')} MB`
      // V8 gives pages back now and then: the middle of four looks.
      const [, low, high] = [...base].sort((a, b) => a - b)
      assert.ok(last - (low + high) / 2 <= MOST_MB, text)
      assert.ok(last - early <= MOST_MB - 2, `it grows: ${text}`)
    })
  }
}
