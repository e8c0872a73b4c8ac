'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, readTrace, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** Parses a complete trace, and counts its samples. @param {string} file */
function countSamples(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
  assert.equal(traceEvents.at(-1).name, 'trace.end', file)
  let count = 0
  for (const { name, args } of traceEvents) {
    if (name === 'ProfileChunk') count += args.data.cpuProfile.samples.length
  }
  return count
}

test('one process can make a thousand recordings, and the last is as good as the first', async () => {
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    const { spin } = require(${SPIN})
    const recordings = []
    for (let i = 0; i < 1000; i++) {
      prof.start({ interval: 100 + (i % 3) * 100 })
      spin(i === 0 || i === 999 ? 500 : 1)
      recordings.push(prof.stop())
    }
    console.log(JSON.stringify(recordings.map(({ files, samples }) => ({ files, samples }))))`
  const { code, stdout, stderr, files } = await run(['-e', source], { preload: null, read: 20 })
  assert.equal(stderr, '')
  assert.equal(code, 0)
  /** @type {{ files: string[], samples: number }[]} */
  const recordings = JSON.parse(stdout)
  assert.equal(recordings.length, 1000)
  assert.deepEqual(recordings.flatMap((each) => each.files).sort(), files)
  for (const each of recordings) {
    assert.equal(each.files.length, 1)
    assert.equal(countSamples(each.files[0]), each.samples, each.files[0])
  }
  // A short one, whose thread stood still, can have none.
  const sampled = recordings.filter(({ samples }) => samples > 0).length
  assert.ok(sampled > 500, `${sampled} recordings have samples`)
  for (const each of [recordings[0], recordings[999]]) {
    assertSeen(await readTrace(each.files[0]), 'spin')
  }
})
