'use strict'

// Functions whose time V8 charges to their callers, because they were in a built-in function without a frame
// or were making their own. docs/internals/sampling.md has the shares of V8 alone, which
// `node scripts/leaves.js` measures.

const assert = require('node:assert/strict')
const test = require('node:test')
const { PROGRAM, ROWS, tiersOf, wrongShares } = require('../helpers/leaves.js')
const { run, filesIn } = require('../helpers/run.js')

const skip = process.platform !== 'linux' && 'only on Linux can V8 be shown a frame'
const ENV = { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_INTERVAL: '100' }

/** The largest share of a row's samples that may be charged to the wrong function. */
const LIMIT = 0.01

/**
 * Returns whether too many of all samples are wrong, beyond chance. Beside collections, some code has few others, and
 * its caller has some of its own.
 * @param {import('../helpers/leaves.js').RowShares} shares
 */
const isWrong = ({ all, samples, caller, lost }) =>
  samples < 50 || samples * Math.max(caller, lost) > LIMIT * all + 3 * Math.sqrt(LIMIT * all)

/** Records rows of the fixture. @param {string[]} flags @param {number} ms @param {string[]} rows */
async function record(flags, ms, rows) {
  const { code, stderr, cwd, traces } = await run([...flags, PROGRAM, String(ms), ...rows], {
    env: ENV,
  })
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  assert.equal(traces[0].metadata.findsLeaves, true)
  const [profile] = filesIn(cwd, '.cpuprofile')
  return wrongShares(profile, rows, 0.4)
}

for (const [tier, flags] of Object.entries(tiersOf(process.version))) {
  test(`${tier}: what works has the samples, with its lines`, { skip }, async () => {
    const shares = await record(flags, 100, ROWS)
    // Before Node 26, V8 gives the lines of inlined functions to those that called them.
    for (const { row, worker } of ['interpreter', 'sparkplug'].includes(tier) ? shares : []) {
      // The longest worker has 14 lines.
      const outside = worker.lines.filter((line) => line < worker.start || line > worker.start + 14)
      assert.deepEqual(outside, [], `${row}, from line ${worker.start}`)
    }
    const above = shares.filter(isWrong).map(({ row }) => row)
    // Some hundred samples say little about a hundredth: what is above it runs for longer.
    const longer = above.length > 0 ? await record(flags, 1500, above) : []
    assert.deepEqual(
      longer.filter(isWrong).map(({ worker, ...wrong }) => wrong),
      [],
    )
  })
}
