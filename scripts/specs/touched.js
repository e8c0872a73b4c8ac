'use strict'

// Which tests a change of files touches: `npm test -- --changed`. A spec is touched by all that it reaches in
// the graph of the JavaScript, and by the Rust behind the exports that it reaches.

const fs = require('node:fs')
const path = require('node:path')
const { Graph } = require('../code/graph.js')
const { ROOT, listFiles } = require('../code/repository.js')
const { RUST, cratesOf, exportedNames, exportsOf, readCrates } = require('../code/rust.js')

const SPEC = /^(?:packages\/[\w-]+\/)?__test__\/([\w-]+\/[\w-]+\.spec\.js)$/
/** Specs of these kinds record, which every part of the recorder can change. */
const RECORDING = /^(recording|stress)\//
/** Files that every build, test or tool depends on. */
const OF_ALL = /^(packages\/[\w-]+\/)?[^/]+\.(json|toml|lock)$|^\.npmrc$|^\.ci\/run$/
/** The fuzzers, which `cargo check` and `npm run test:nightly` look at, and the commit that `.ci/run` looks at. */
const OF_FUZZERS = /^fuzz\/|^\.ci\/checked$/

/**
 * @typedef {import('../code/graph.js').Place} Place
 * @typedef {import('../code/rust.js').Uses} Uses
 *
 * @typedef {object} Sources
 * @property {Graph} graph
 * @property {(file: string) => string} read returns the text of a file
 * @property {Map<string, Set<Place>>} reached what each spec reaches; specs are `kind/name.spec.js`
 *
 * @typedef {object} Touched
 * @property {string} [everything] why everything is touched
 * @property {string[]} specs
 * @property {string[]} crates the crates whose tests are touched
 */

/** Reads what says which specs a change touches. @returns {Sources} */
function readSources() {
  const files = listFiles().filter((file) => fs.existsSync(path.join(ROOT, file)))
  return sourcesOf(files, (file) => fs.readFileSync(path.join(ROOT, file), 'utf8'))
}

/** @param {string[]} files @param {(file: string) => string} read @returns {Sources} */
function sourcesOf(files, read) {
  const graph = new Graph(files, read)
  const specs = files.flatMap((file) => {
    const [, spec] = SPEC.exec(file) ?? []
    return spec === undefined ? [] : [{ spec, file }]
  })
  specs.sort((a, b) => (a.spec < b.spec ? -1 : 1))
  const reached = new Map(specs.map(({ spec, file }) => [spec, graph.reached(file)]))
  return { graph, read, reached }
}

/**
 * Says what a change of files touches.
 * @param {string[]} changed paths from the root @param {Sources} sources
 * @param {Uses} uses of the Rust; empty if none was changed
 * @param {import('../code/rust.js').Crate[]} [crates]
 * @returns {Touched}
 */
function touchedBy(changed, sources, uses, crates = readCrates()) {
  const all = [...sources.reached.keys()]
  /** @param {string} why @returns {Touched} */
  const everything = (why) => ({
    everything: why,
    specs: all,
    crates: crates.map(({ name }) => name),
  })
  /** @type {Set<string>} */
  const specs = new Set()
  for (const file of changed.filter((each) => !OF_FUZZERS.test(each))) {
    if (OF_ALL.test(file)) return everything(`every build depends on ${file}`)
    const isThere = sources.graph.files.has(file)
    const touched = [...specsThatReach(file, sources), ...specsBehind(file, sources, uses)]
    // What was removed is missed by those who were changed with it.
    if (touched.length === 0 && isThere && !RUST.test(file)) {
      return everything(`no spec is known to need ${file}`)
    }
    for (const spec of touched) specs.add(spec)
  }
  return { specs: [...specs].sort(), crates: cratesOf(changed, crates) }
}

/** Returns the specs that reach a file, by whatever unit of it. @param {string} file @param {Sources} sources */
function specsThatReach(file, { reached }) {
  return [...reached.keys()].filter((spec) =>
    some(reached.get(spec), (place) => place.file === file),
  )
}

/** Returns the specs of the exports that a file of Rust is behind. @param {string} file @param {Sources} sources @param {Uses} uses */
function specsBehind(file, { graph, read, reached }, uses) {
  if (!file.endsWith('.rs')) return []
  const exports = exportsOf(file, uses, read)
  const names = new Set(exports.flatMap((each) => exportedNames(read(each))))
  const isRecorder = exports.some((each) => each.startsWith('src/recorder/'))
  return [...reached.keys()].filter(
    (spec) =>
      (isRecorder && RECORDING.test(spec)) ||
      some(reached.get(spec), ({ file, name }) =>
        some(graph.modules.get(file)?.units.get(name)?.natives, (native) => names.has(native)),
      ),
  )
}

/** @template T @param {Set<T> | undefined} set @param {(value: T) => boolean} isWanted */
function some(set, isWanted) {
  for (const value of set ?? []) if (isWanted(value)) return true
  return false
}

module.exports = { readSources, sourcesOf, touchedBy }
