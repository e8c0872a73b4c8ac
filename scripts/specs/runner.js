'use strict'

// Runs spec files, several at a time, on the Node of this process.

const os = require('node:os')
const path = require('node:path')
const { run } = require('node:test')
const { arrange, pathOf, ROOT } = require('./files.js')

/** Spec files that run at the same time: a spec mostly waits for a program. */
const AT_ONCE = os.cpus().length + 2
/** Time after which a spec file has failed: the slowest take two minutes, on a loaded machine too. */
const TIMEOUT_MS = 360_000

/** @typedef {{ file: string, events: any[], failures: string[], startMs: number, seconds: number }} Outcome the events of a spec file, and its failed tests */

/**
 * Runs files and yields the outcome of each when it has ended.
 * @param {string[]} files @returns {AsyncGenerator<Outcome>}
 */
async function* runSpecs(files) {
  for (const group of arrange(files)) {
    const waiting = [...group.files]
    const limit = group.isAlone ? 1 : AT_ONCE
    /** @type {Map<string, Promise<Outcome>>} */
    const running = new Map()
    while (waiting.length > 0 || running.size > 0) {
      while (waiting.length > 0 && running.size < limit) {
        const file = /** @type {string} */ (waiting.shift())
        running.set(file, runSpec(file))
      }
      const outcome = await Promise.race(running.values())
      running.delete(outcome.file)
      yield outcome
    }
  }
}

/** Runs one file. @param {string} file @returns {Promise<Outcome>} */
async function runSpec(file) {
  /** @type {Outcome} */
  const outcome = { file, events: [], failures: [], startMs: Date.now(), seconds: 0 }
  const options = { files: [path.join(ROOT, pathOf(file))], concurrency: 1, timeout: TIMEOUT_MS }
  for await (const event of run(options)) {
    outcome.events.push(event)
    const { type, data } = /** @type {any} */ (event)
    if (type !== 'test:fail' || data.todo) continue
    outcome.failures.push(data.name)
  }
  outcome.seconds = (Date.now() - outcome.startMs) / 1000
  return outcome
}

module.exports = { runSpecs }
