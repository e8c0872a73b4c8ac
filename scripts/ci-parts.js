'use strict'

// Says which parts of `.ci/run` are needed: `node scripts/ci-parts.js [--all] <file>` writes a line for each
// that is left out into the file, `<part>: <reason>`. These parts check platforms and engines, which few
// changes can break. A part is needed if something that it looks at differs from the commit in `.ci/checked`,
// on which all parts passed.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { ROOT, filesChangedSince } = require('./code/repository.js')
const { readUses, USES } = require('./code/rust.js')
const { selectSpecs } = require('./specs/files.js')

/** @typedef {{ changed: string[], specs: string[], crates: string[] }} Touched */

/** @param {RegExp} kind */
const hasSpecs =
  (kind) =>
  (/** @type {Touched} */ { specs }) =>
    specs.some((spec) => kind.test(spec))
/** Every part of the recorder meets every Node and system; other Rust only runs elsewhere. */
const hasRecorder = (/** @type {Touched} */ { crates }) => crates.includes('cpu-prof')

/** What builds a target, and what chooses one in a process. */
const OF_TARGETS = /^(scripts\/(build|inspect|npm|platforms|targets)|lib\/(addon|preload))/

/** Returns the folders of code of a system, as the test of the architecture has them. */
function systemRooms() {
  const rules = fs.readFileSync(path.join(ROOT, 'src', 'core', 'architecture.rs'), 'utf8')
  const [, list = ''] = /^const UNSAFE_ROOMS: .* = \[([^\]]*)\]/m.exec(rules) ?? []
  return [...list.matchAll(/"(.*)"/g)].map(([, room]) =>
    room.startsWith('addon/') ? `packages/fleet/src/${room}` : `src/${room}`,
  )
}

/** When each part is needed. @type {Record<string, (touched: Touched) => boolean>} */
const PARTS = {
  'test:fleet': hasSpecs(/^fleet\//),
  'test:lake': hasSpecs(/^lake\//),
  'test:inspector': ({ specs }) =>
    specs.some((spec) => selectSpecs({ source: 'inspector' }).includes(spec)),
  'test:matrix': hasSpecs(/^recording\//),
  'test:memory': hasRecorder,
  // Other Rust is safe and knows no system, and no library of C: it is the same with musl.
  'linux-x64-musl': ({ changed }) => {
    const rooms = systemRooms()
    return changed.some(
      (file) => OF_TARGETS.test(file) || rooms.some((room) => file.startsWith(room)),
    )
  },
}

/** Returns what differs from the checked commit, and what that touches; a text if this cannot be known. */
function readTouched() {
  const commit = fs.readFileSync(path.join(ROOT, '.ci', 'checked'), 'utf8').trim()
  let changed
  try {
    changed = filesChangedSince(commit)
  } catch {
    return `this clone does not have ${commit}, which .ci/checked names`
  }
  const [command, ...args] = USES
  const { stdout } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' })
  const { readSources, touchedBy } = require('./specs/touched.js')
  const { everything, specs, crates } = touchedBy(changed, readSources(), readUses(stdout).uses)
  return everything ?? { changed, specs, crates, commit }
}

function main() {
  const isAll = process.argv.includes('--all')
  const touched = isAll ? 'of --all' : readTouched()
  const left =
    typeof touched === 'string' ? [] : Object.keys(PARTS).filter((part) => !PARTS[part](touched))
  const lines = left.map(
    (part) =>
      `${part}: nothing that it looks at has changed since ${/** @type {any} */ (touched).commit}`,
  )
  const why =
    typeof touched === 'string' ? `every part runs, because ${touched}` : 'other parts run'
  console.log([...lines, why].join('\n'))
  const file = process.argv.slice(2).find((arg) => !arg.startsWith('--'))
  if (file !== undefined) fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
}

if (require.main === module) main()

module.exports = { PARTS, systemRooms }
