'use strict'

// Finds the other packages that are released with this one, and what they add to it.

const { createRequire } = require('node:module')
const path = require('node:path')
const { name: MAIN, version: VERSION } = require('../package.json')

/** What each package adds, by its short name. @type {Record<string, any>} */
const hooks = { __proto__: null }

/** Returns the name of a package. @param {string} name its short name */
const nameOf = (name) => `${MAIN}-${name}`

/** Adds a package that has been found already. @param {string} name its short name @param {any} hook */
function provide(name, hook) {
  hooks[name] = hook
}

/**
 * Returns what a package adds: its file `hook`. It is looked for from this package, and then from the working
 * directory. Throws an error that says what to install.
 * @param {string} name its short name @returns {any}
 */
function loadHook(name) {
  hooks[name] ??= search(nameOf(name))
  return hooks[name]
}

/** @param {string} name @returns {any} */
function search(name) {
  /** @type {string | undefined} */
  let other
  for (const place of [__filename, ...project()]) {
    const load = createRequire(place)
    const version = versionOf(name, load)
    if (version === VERSION) return attempt(name, load)
    other ??= version
  }
  const { WrongUsage } = require('./errors/wrong-usage.js')
  throw new WrongUsage(
    other === undefined
      ? `the package ${name} is not installed; ${remedy(name)}`
      : `the package ${name} is ${other}, and ${MAIN} is ${VERSION}; ${remedy(name)}`,
  )
}

/** Returns a file of the project, if there is a working directory. */
function project() {
  try {
    return [path.join(process.cwd(), 'package.json')]
  } catch {
    return []
  }
}

/** Returns the version of a package; undefined if it is not there. @param {string} name @param {NodeJS.Require} load @returns {string | undefined} */
function versionOf(name, load) {
  try {
    return load(`${name}/package.json`).version
  } catch {
    return undefined
  }
}

/** @param {string} name @param {NodeJS.Require} load */
function attempt(name, load) {
  try {
    return load(`${name}/hook`)
  } catch (error) {
    const [reason] = String(error).split('\n', 1)
    throw new Error(`the package ${name} cannot be loaded (${reason}); ${remedy(name)}`)
  }
}

/** @param {string} name */
function remedy(name) {
  const { commandToAdd, findProject } = require('./addon/package-manager.js')
  const [folder = path.parse(__filename).root] = project().map(path.dirname)
  return `run: ${commandToAdd(findProject(folder).manager, `${name}@${VERSION}`)}`
}

module.exports = { loadHook, nameOf, provide }
