'use strict'

// Files that other tools wrote: they are merged, reported and converted, and their times are those of
// an independent computation. fixtures/foreign/README.md tells where the files come from.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { convert, merge, report } = require('../..')
const { FIXTURES, temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { assertFunctions, computeCosts, readJson, readProfiles } = require('../helpers/times.js')

const DIR = path.join(FIXTURES, 'foreign')
const FILES = fs
  .readdirSync(DIR)
  .filter((name) => name.endsWith('.gz'))
  .map((name) => path.join(DIR, name))
const PROFILES = FILES.filter((file) =>
  readProfiles(file).some(({ samples }) => samples.length > 0),
)
const OTHERS = FILES.filter((file) => !PROFILES.includes(file))
const ALL = { top: Number.POSITIVE_INFINITY }

/** Merges files. @param {string | string[]} files */
async function merged(files) {
  const output = path.join(temporaryDirectory(), 'trace.json')
  const result = await merge(files, output)
  assert.deepEqual(result.failed, [])
  return output
}

/** Returns the events of a trace. @param {string} file @returns {any[]} */
function events(file) {
  const json = readJson(file)
  return json.traceEvents ?? json
}

test('there are files of twenty origins', () => {
  assert.ok(FILES.length >= 20, `${FILES.length}`)
  assert.ok(PROFILES.length >= 11, `${PROFILES.length}`)
})

for (const file of PROFILES) {
  const name = path.basename(file, '.gz')
  test(`${name}: times before and after a merge and a conversion`, async () => {
    const expected = computeCosts(file)
    assertFunctions(await report(file, ALL), expected)
    assertFunctions(await report(await merged(file), ALL), expected)
    const dir = temporaryDirectory()
    const { files } = await convert(file, path.join(dir, 'one.cpuprofile'))
    assertFunctions(await report(files, ALL), expected)
    await convert(file, path.join(dir, 'one.speedscope.json'))
    await convert(file, path.join(dir, 'one.collapsed.txt'))
  })
}

/**
 * Returns what a merge keeps of an event. The ids of profiles become unique in the trace, and a frame
 * without a process, or a start without frames, becomes the label of its process.
 * @param {any} event
 */
function kept({ id, ...event }) {
  const isOfProfile = event.name === 'Profile' || event.name === 'ProfileChunk'
  const [frame] = event.args?.data?.frames ?? []
  if (frame !== undefined && frame.processId === undefined) return undefined
  if (event.name === 'TracingStartedInBrowser' && frame === undefined) return undefined
  return JSON.stringify(isOfProfile ? event : { id, ...event })
}

for (const file of FILES.filter((each) => !each.includes('.cpuprofile'))) {
  const name = path.basename(file, '.gz')
  test(`${name}: every event passes a merge unchanged`, async () => {
    const counts = new Map()
    for (const event of events(await merged(file))) {
      const text = kept(event)
      counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    for (const event of events(file)) {
      const text = kept(event)
      if (text === undefined) continue
      const count = counts.get(text) ?? 0
      assert.ok(count > 0, `not in the trace: ${text}`)
      counts.set(text, count - 1)
    }
  })
}

for (const file of OTHERS) {
  const name = path.basename(file, '.gz')
  test(`${name}: a report says that there is no profile`, async () => {
    await assert.rejects(report(file), pattern`has ${messages.noProfile}`)
  })
}

test('one merge of all files has the times of all', async () => {
  const expected = new Map()
  for (const file of PROFILES) {
    for (const [key, { selfMs, totalMs }] of computeCosts(file)) {
      const sum = expected.get(key) ?? { selfMs: 0, totalMs: 0 }
      expected.set(key, { selfMs: sum.selfMs + selfMs, totalMs: sum.totalMs + totalMs })
    }
  }
  assertFunctions(await report(await merged(FILES), ALL), expected)
})
