'use strict'

// The Rust of the repository: its crates, and what a file is behind of the functions that JavaScript calls.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { ROOT } = require('./repository.js')

/** Where Rust and its data stand. */
const RUST = /^(packages\/\w+\/)?src\//
const EXPORTS = /\/exports\//
/** Files that stand for their whole crate. */
const OF_CRATE = /\/(lib|build)\.rs$/

/**
 * @typedef {Record<string, string[]>} Uses the files that each file uses; paths from the root
 * @typedef {{ uses: Uses, ofTests: Uses }} AllUses without their tests, and what their tests use
 * @typedef {{ name: string, folder: string, uses: string[] }} Crate the folder is a path from the root
 */

/** Prints the files that each file of Rust uses, for {@link readUses}. */
const USES = ['cargo', 'test', '--quiet', '--lib', 'architecture', '--', '--nocapture']

/** Returns the crates that users get, without the fuzzers. @returns {Crate[]} */
function readCrates() {
  const args = ['metadata', '--format-version', '1', '--no-deps', '--offline']
  const { status, stdout, stderr, error } = spawnSync('cargo', args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`cargo metadata failed: ${error?.message ?? stderr.trim()}`)
  const { packages, workspace_default_members: members } = JSON.parse(stdout)
  return packages
    .filter((/** @type {any} */ { id }) => members.includes(id))
    .map((/** @type {any} */ { name, manifest_path, dependencies }) => ({
      name,
      folder: path.relative(ROOT, path.dirname(manifest_path)).replaceAll('\\', '/'),
      uses: dependencies
        .filter((/** @type {any} */ each) => each.path)
        .map((/** @type {any} */ each) => each.name),
    }))
}

/**
 * Returns the names of the crates that changed files are of, and of those that use these.
 * @param {string[]} changed paths from the root @param {Crate[]} crates
 */
function cratesOf(changed, crates) {
  const own = crates.filter(({ folder }) => changed.some((file) => file.startsWith(`${folder}/`)))
  const touched = new Set(own.map(({ name }) => name))
  for (const used of touched) {
    for (const { name, uses } of crates) if (uses.includes(used)) touched.add(name)
  }
  return [...touched].sort()
}

/**
 * Returns the files with exports that a file is behind. A file that nothing names, such as a `mod.rs` that
 * only has other files, stands for its folder. None for a file of tests.
 * @param {string} file path from the root @param {Uses} uses @param {(file: string) => string} read
 */
function exportsOf(file, uses, read) {
  const isRoot = OF_CRATE.exec(file)
  if (!(file in uses) && !isRoot) return []
  const users = usersOf(uses, read)
  const all = Object.keys(uses)
  let found = reachedFrom([file], users)
  for (let folder = path.posix.dirname(file); found.length === 0 && folder !== '.'; ) {
    found = reachedFrom(
      all.filter((each) => each.startsWith(`${folder}/`)),
      users,
    )
    folder = path.posix.dirname(folder)
  }
  return found
}

/** @param {string[]} files @param {Map<string, string[]>} users */
function reachedFrom(files, users) {
  const found = new Set(files)
  for (const each of found) for (const user of users.get(each) ?? []) found.add(user)
  return [...found].filter((each) => EXPORTS.test(each) && !/\/(mod|lib|build)\.rs$/.test(each))
}

/** Returns the files that use each file, also by a function with the name of a C function. @param {Uses} uses @param {(file: string) => string} read */
function usersOf(uses, read) {
  /** @type {Map<string, string[]>} */
  const users = new Map()
  const add = (/** @type {string} */ used, /** @type {string} */ user) =>
    users.set(used, [...(users.get(used) ?? []), user])
  for (const [user, used] of Object.entries(uses)) for (const each of used) add(each, user)
  for (const file of Object.keys(uses).filter((each) => EXPORTS.test(each))) {
    for (const [, name] of read(file).matchAll(/no_mangle\)\]\n.* extern "C" fn (\w+)/g)) {
      const others = Object.keys(uses).filter((each) => each !== file && read(each).includes(name))
      for (const other of others) add(file, other)
    }
  }
  return users
}

/** Returns the names by which JavaScript calls the functions of a file. @param {string} source */
const exportedNames = (source) => [...source.matchAll(/js_name = "(\w+)"/g)].map(([, name]) => name)

/**
 * Returns the files that each file uses, as {@link USES} prints them.
 * @param {string} output @returns {AllUses}
 */
function readUses(output) {
  const [, uses] = /^uses: (\{.*\})$/m.exec(output) ?? []
  const [, ofTests] = /^uses of tests: (\{.*\})$/m.exec(output) ?? []
  if (uses === undefined || ofTests === undefined) {
    throw new Error('the tests of the architecture printed no uses of files')
  }
  return { uses: JSON.parse(uses), ofTests: JSON.parse(ofTests) }
}

module.exports = { OF_CRATE, RUST, USES, cratesOf, exportedNames, exportsOf, readCrates, readUses }
