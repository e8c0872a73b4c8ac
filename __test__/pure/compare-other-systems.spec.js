'use strict'

// One program in two folders and on two systems: its functions are the same.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { compare } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { SYSTEMS, SPANS, writeProgram } = require('../helpers/other-systems.js')

/** @typedef {import('../helpers/other-systems.js').System} System */
/** @typedef {import('../helpers/written.js').Span} Span */

/** The program, with a name that has an accent. @type {Span[]} */
const USUAL = [...SPANS, ['main src/main.js:1 > check src/prüfen.js:3', 30]]
/** The program, in which `parse` takes twice as long. @type {Span[]} */
const SLOWER = USUAL.map(([stack, ms]) => [stack, String(stack).includes('parse') ? 2 * ms : ms])

/** Writes runs of a program. @param {string} side @param {System} system @param {Span[]} spans */
function writeRuns(side, system, spans) {
  const folder = path.join(temporaryDirectory(), side)
  for (let run = 1; run <= 3; run++) {
    // macOS can give letters and their accents apart.
    const form = system === SYSTEMS.macOS ? 'NFD' : 'NFC'
    const named = /** @type {Span[]} */ (
      spans.map(([stack, ms]) => [String(stack).normalize(form), ms])
    )
    // No two runs take the same time.
    const [first, ...others] = named
    const noisy = /** @type {Span[]} */ ([[first[0], first[1] + run], ...others])
    writeProgram(system, path.join(folder, `run-${run}`), { spans: noisy })
  }
  return folder
}

for (const [name, base, head] of [
  ['two folders of Windows', 'Windows', 'Windows, by a small drive letter'],
  ['Linux and Windows', 'Linux', 'Windows'],
  ['macOS and a share of Windows', 'macOS', 'a share of Windows'],
]) {
  test(`a program is compared between ${name}`, async () => {
    const sides = [
      writeRuns('base', SYSTEMS[base], USUAL),
      writeRuns('head', SYSTEMS[head], SLOWER),
    ]
    const { rows } = await compare(sides[0], sides[1])
    const functions = rows.filter(({ kind }) => kind === 'function')
    // `main` has the difference in its total time, among more noise.
    const changed = functions.filter((row) => row.changed && row.name !== 'main')
    assert.deepEqual(
      [...new Set(changed.map(({ name, file }) => `${name} ${file}`))],
      ['parse src/parse.js'],
    )
    // Every function is on both sides.
    for (const row of functions.filter(({ measure }) => measure === 'total')) {
      assert.ok(row.base > 0 && row.head > 0, `${row.name} ${row.file}`)
    }
    for (const file of ['node_modules/lodash/chunk.js', 'src/prüfen.js']) {
      assert.ok(functions.some((row) => row.file === file))
    }
  })
}
