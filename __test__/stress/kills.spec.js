'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { seededRandom } = require('../helpers/random.js')
const {
  cleanEnv,
  message,
  temporaryDirectory,
  tracesIn,
  nowUs,
  PACKAGE,
  FIXTURES,
  MEMORY,
} = require('../helpers/run.js')
const { until } = require('../helpers/until.js')
const { merge } = require('../..')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FLUSH_MS = 50
const KILLS = Number(process.env.KILLS ?? 20)

const PROGRAM = `
  const { spin } = require(${SPIN})
  process.send?.(0)
  setInterval(() => {
    spin(Math.random() * 40)
    new Function('return [' + Math.random() + '].map((x) => x * 2)')()
  }, 10)`

/**
 * When a kill comes: after the spawn, so that there may be no file yet; after the first line of the
 * program; or after a write, at any moment until the next one.
 */
const MOMENTS = /** @type {const} */ (['spawned', 'started', 'written'])

/** Kills at the same time: each mostly waits for its moment. */
const AT_ONCE = 4

test(`${KILLS} kills at random moments leave what was written before`, async (t) => {
  const random = seededRandom(t)
  /** @type {{ isTorn: boolean, lostUs: number }[]} */
  const killed = []
  let started = 0
  const lane = async () => {
    while (started < KILLS) {
      const moment = MOMENTS[started++ % MOMENTS.length]
      killed.push(...(await kill(moment, [random(), random()])))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  const torn = killed.filter(({ isTorn }) => isTorn).length
  const worst = Math.max(...killed.map(({ lostUs }) => lostUs))
  t.diagnostic(`at most ${Math.round(worst / 1000)} ms were lost, ${torn} files are torn`)
  // docs/internals/trace-file.md explains why a kill can tear a write. A write takes microseconds.
  assert.ok(torn <= 1 + KILLS * 0.02, `${torn} files are torn`)
})

/**
 * Kills a program, and checks its traces: one, or none where the kill came before the first write.
 * @param {typeof MOMENTS[number]} moment
 * @param {[number, number]} waits random shares of the longest waits, before and after the next write
 */
async function kill(moment, [wait, waitAfterWrite]) {
  // A disk can delay a write for seconds; memory cannot.
  const cwd = temporaryDirectory('cpu-prof-', MEMORY)
  const child = spawn(process.execPath, ['--require', PACKAGE, '-e', PROGRAM], {
    cwd,
    env: { ...cleanEnv(), CPU_PROF_FLUSH_INTERVAL: String(FLUSH_MS) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  if (moment !== 'spawned') await message(child)
  await sleep(wait * 700)
  const sinceUs = nowUs()
  if (moment === 'written') {
    await until(() => lastEventUs(cwd) > sinceUs)
    await sleep(waitAfterWrite * FLUSH_MS)
  }
  const before = tracesIn(cwd).map((file) => fs.readFileSync(file, 'utf8'))
  const killedUs = nowUs()
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
  const files = tracesIn(cwd)
  assert.ok(files.length === 1 || moment === 'spawned')
  const killed = []
  for (const file of files) {
    // The kill can come between the creation of the file and the first write.
    if (moment === 'spawned' && fs.statSync(file).size === 0) continue
    const { text, isTorn } = await readKilled(file)
    const latest = latestUs(JSON.parse(text).traceEvents)
    killed.push({ isTorn, lostUs: killedUs - latest })
    if (moment === 'written') {
      // A torn write can have been about to replace the end of the file.
      assert.ok(isTorn || latest > sinceUs, 'what was written is gone')
      assert.match(text, /"functionName":"spin"/)
    }
    // A merge, which repairs a torn file, also writes it anew.
    if (!isTorn && before.length > 0) assert.ok(text.startsWith(settled(before[0])), before[0])
  }
  fs.rmSync(cwd, { recursive: true })
  return killed
}

/** Returns the text of a trace without its end, which the next write of an idle thread replaces. @param {string} text */
function settled(text) {
  const REPLACED = 6
  return text.split('\n').slice(0, -REPLACED).join('\n')
}

/** Returns the latest time in a trace. A task stands last, with the time of its start. @param {any[]} events */
function latestUs(events) {
  return events.reduce((latest, { ts, dur = 0 }) => Math.max(latest, ts + dur), 0)
}

/** Returns the latest time in a trace so far; 0 where there is none. @param {string} dir */
function lastEventUs(dir) {
  try {
    return latestUs(JSON.parse(fs.readFileSync(tracesIn(dir)[0], 'utf8')).traceEvents)
  } catch {
    // There is no file yet, or a write is under way.
    return 0
  }
}

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Reads a trace, which is repaired by merge() if the kill came within a write. @param {string} file */
async function readKilled(file) {
  const read = () => fs.readFileSync(file, 'utf8')
  const text = read()
  try {
    JSON.parse(text)
    return { text, isTorn: false }
  } catch {
    const { repaired } = await merge(file, file)
    assert.deepEqual(repaired, [file])
    return { text: read(), isTorn: true }
  }
}
