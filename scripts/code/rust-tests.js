'use strict'

// Which tests of a crate a change of files touches: those that use a changed file, by the uses of files that
// the tests of the architecture print.

const { OF_CRATE, RUST } = require('./rust.js')

/** @typedef {import('./rust.js').Uses} Uses */

/** Returns the path of a file's module. @param {string} file path from the root */
const moduleOf = (file) => file.replace(/(\/(mod|lib))?\.rs$/, '').replaceAll('/', '::')

/**
 * Returns those of a crate's tests that use a changed file.
 * @param {string[]} names of all tests of the crate, such as `merge::tests::spans::two`
 * @param {string} folder of the crate, from the root @param {string[]} changed paths from the root
 * @param {import('./rust.js').AllUses} uses
 */
function touchedTests(names, folder, changed, { uses, ofTests }) {
  const ofRust = changed.filter((file) => RUST.test(file))
  const isKnown = (/** @type {string} */ file) => file in uses || file in ofTests
  // A crate's root and its data are used by whatever. What was removed is missed by files that changed with it.
  if (ofRust.some((file) => !file.endsWith('.rs') || OF_CRATE.test(file))) return names
  const files = new Map(
    [...Object.keys(uses), ...Object.keys(ofTests)].map((f) => [moduleOf(f), f]),
  )
  const targets = new Set(
    ofRust.filter(isKnown).flatMap((file) => [file, ...childrenOf(file, uses)]),
  )

  /** Returns whether the tests of a file use a changed file. @param {string} file */
  const isTouched = (file) => {
    const found = new Set([file, ...(ofTests[file] ?? [])])
    for (const each of found) {
      if (targets.has(each)) return true
      // A file that is not used by others than tests has no uses of its own.
      for (const used of uses[each] ?? ofTests[each] ?? []) found.add(used)
    }
    return false
  }
  /** @type {Map<string, boolean>} */
  const known = new Map()
  const crate = folder.replaceAll('/', '::')
  return names.filter((name) => {
    const file = fileOf(`${crate}::${name}`, files)
    // Only a module that is not known belongs to the root of its crate.
    if (file === undefined || OF_CRATE.test(file)) return true
    if (!known.has(file)) known.set(file, isTouched(file))
    return known.get(file)
  })
}

/** Returns the files of a folder whose `mod.rs` was changed. @param {string} file @param {Uses} uses */
function childrenOf(file, uses) {
  if (!file.endsWith('/mod.rs')) return []
  return Object.keys(uses).filter((each) => each.startsWith(file.slice(0, -'mod.rs'.length)))
}

/** Returns the file of the longest module that a test's name begins with. @param {string} name @param {Map<string, string>} files */
function fileOf(name, files) {
  for (let end = name.length; end > 0; end = name.lastIndexOf('::', end - 1)) {
    const file = files.get(name.slice(0, end))
    if (file !== undefined) return file
  }
  return undefined
}

module.exports = { touchedTests }
