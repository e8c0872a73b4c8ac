'use strict'

// Finds and loads the native addons: the one that records, and the one that reads recordings back.

/** The version of the package, which is that of its addons. */
const VERSION = '0.1.0'

/** `code` of the error of an addon that cannot be used. The command line prints it without a stack trace. */
const UNUSABLE = 'ERR_CPU_PROF_ADDON'

/** The processors in the names of musl's loaders. @type {Record<string, string>} */
const PROCESSORS = { x64: 'x86_64', arm64: 'aarch64' }

/** The addons by name, or why they cannot be used. @type {Record<string, any>} */
const known = { __proto__: null }

/** Returns the addon that records. Node loads the file on the first call only. @returns {any} */
const load = () => once('cpu-prof')

/** Returns the addon that works on recordings, which recorded programs never load. @returns {any} */
const loadTools = () => once('cpu-prof-tools')

/** Finds an addon on the first call. @param {string} name */
function once(name) {
  known[name] ??= attempt(name)
  const { addon, error } = known[name]
  if (addon === undefined) throw error
  return addon
}

/** @param {string} name @returns {{ addon?: any, error?: unknown }} */
function attempt(name) {
  try {
    return { addon: find(name) }
  } catch (error) {
    return { error }
  }
}

/**
 * Returns an addon built in this checkout, or else the one of the target's package. Throws an error for
 * the user if neither can be used.
 * @param {string} name
 */
function find(name) {
  const target = targetName()
  let addon
  try {
    addon = firstOf(`${name}.${target}.node`, target, require)
  } catch (error) {
    const why = require('./addon/missing.js').explain(name, target, error)
    throw why === undefined ? error : unusable(why)
  }
  const version = addon.cpuProfVersion?.()
  if (version === VERSION) return addon
  throw unusable(require('./addon/missing.js').explainVersion(target, VERSION, version))
}

/**
 * Applies `get` to the file of this checkout, or else to that of the target's package.
 * @param {string} file @param {string} target @param {NodeJS.Require} get
 */
function firstOf(file, target, get) {
  try {
    return get(`../${file}`)
  } catch (error) {
    if (/** @type {any} */ (error)?.code !== 'MODULE_NOT_FOUND') throw error
    return get(`@org/cpu-prof-${target}/${file}`)
  }
}

/** @param {string} why */
function unusable(why) {
  return Object.assign(new Error(`cpu-prof: ${why}`), { code: UNUSABLE })
}

/** Returns the name of the system that this Node was built for. */
function targetName() {
  const { platform, arch } = process
  const name = `${platform}-${arch}`
  if (platform !== 'linux') return name
  return `${name}-${isMusl() ? 'musl' : 'gnu'}`
}

/**
 * Returns whether Node runs on musl. Few systems with glibc have musl's loader, so few programs pay for a
 * look into Node's executable.
 */
function isMusl() {
  const { arch, execPath } = process
  const loader = `/lib/ld-musl-${PROCESSORS[arch]}.so.1`
  try {
    if (!execPath.includes('musl') && !require('node:fs').existsSync(loader)) return false
    return require('./addon/interpreter.js').isMusl(execPath)
  } catch {
    // An earlier preload has patched what this needs.
    return false
  }
}

/**
 * Throws in the runtimes that load Node's addons without being Node. Bun aborts the program as soon as an
 * addon looks for the event loop, and Deno gives no samples.
 */
function refuseOtherRuntimes() {
  const { bun, deno } = process.versions
  if (bun === undefined && deno === undefined) return
  const name = bun === undefined ? 'Deno' : 'Bun'
  throw new Error(`cpu-prof: ${name} does not let an addon profile; run the program with Node.js`)
}

module.exports = { load, loadTools, targetName, UNUSABLE, VERSION, refuseOtherRuntimes }
