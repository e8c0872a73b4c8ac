'use strict'

// Says why an addon cannot be loaded, and what to do. Loaded only when that has happened.

const fs = require('node:fs')
const path = require('node:path')
const { commandOf, findProject } = require('./package-manager.js')
const manifest = require('../../package.json')

const ROOT = path.join(__dirname, '..', '..')
const PREFIX = `${manifest.name}-`
/** Longer words of a system's loader are cut off. */
const MAX_WORDS = 300

/** What system loaders say, and the cause. @type {[RegExp, string][]} */
const REFUSALS = [
  [
    /GLIBC_[\d.]+' not found/,
    'the file was built for a newer glibc than the one of this system; use the published package, or ' +
      'build the file here',
  ],
  [
    /failed to map segment|Operation not permitted/i,
    'its file system is mounted noexec, or a policy of the system forbids the file; move the project ' +
      'to a folder from which programs can run',
  ],
  [
    /denied by system policy/i,
    'macOS does not trust a file that came by a browser or by mail; install the package with a package ' +
      'manager, or run xattr -d com.apple.quarantine on the file',
  ],
  [
    /code signature|library load denied|library validation/i,
    'this Node loads only libraries of its own signature (a hardened app); use a plain Node',
  ],
  [
    /Permission denied|Access is denied/i,
    'this user may not read the file; change its owner or its mode',
  ],
]
/** Damage, another processor and another libc have many words. Installing again mends all three. */
const DAMAGED = 'the file is damaged, or for another system than this Node'

/**
 * Returns what the user reads; undefined if the error is not about the addon's file.
 * @param {string} name of the addon @param {string} target of this Node @param {unknown} error
 */
function explain(name, target, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error ?? {})
  if (code === 'MODULE_NOT_FOUND') return missing(name, target)
  if (code === 'ERR_DLOPEN_FAILED') return refused(name, target, message)
  if (code !== 'ERR_DLOPEN_DISABLED') return undefined
  return 'this Node loads no native addons: start it with --allow-addons, or without --no-addons'
}

/**
 * Returns what the user reads about an addon of another version.
 * @param {string} target @param {string} version of this package @param {string | undefined} found of the
 *   addon; the first versions do not tell it
 */
function explainVersion(target, version, found = 'older') {
  if (!isInstalled()) return `this is version ${version}, and the addon is ${found}: npm run build`
  const { manager } = findProject(ROOT)
  return (
    `${manifest.name} is ${version}, but ${PREFIX}${target} is ${found}: an update did not ` +
    `replace both; run: ${commandOf(manager, manifest)}`
  )
}

/** @param {string} name @param {string} target */
function missing(name, target) {
  if (isBundled()) {
    return (
      `the addon ${name}.${target}.node is not beside this code, which a bundler has moved: leave ` +
      `${manifest.name} out of the bundle (external), and install it where the bundle runs`
    )
  }
  if (!isInstalled()) {
    return `the addon ${name}.${target}.node is not built: npm run build (needs Rust)`
  }
  const targets = supportedTargets()
  if (!targets.includes(target)) {
    return `there are no addons for ${target}, but for ${targets.join(', ')}: use a Node for one of these`
  }
  const project = findProject(ROOT)
  const cause = causeOf(target, targets, project)
  const command = commandOf(project.manager, manifest)
  return `the package ${PREFIX}${target} is not installed: ${cause}; run: ${command}`
}

/**
 * @param {string} target @param {string[]} targets that have a package
 * @param {import('./package-manager.js').Project} project
 */
function causeOf(target, targets, { manager, lockFile, locks }) {
  const other = targets.find(isResolvable)
  if (other !== undefined) return copied(target, other)
  if (lockFile !== undefined && !locks(PREFIX + target)) {
    const why =
      manager === 'npm'
        ? 'npm leaves the optional packages of other systems out of the file if node_modules exists'
        : 'the file was written for other systems'
    return `${lockFile} does not name it (${why})`
  }
  return 'the install left optional packages out (--omit=optional, --no-optional, --ignore-optional)'
}

/** @param {string} target of this Node @param {string} other the target that is installed instead */
function copied(target, other) {
  const [os, cpu, libc] = target.split('-')
  const [otherOs, otherCpu] = other.split('-')
  const there = `${PREFIX}${other} is there instead`
  if (os !== otherOs) {
    return `${there}, so node_modules was installed on another system, and copied or mounted here (a container?)`
  }
  if (cpu !== otherCpu) {
    return `${there}, so a Node for ${otherCpu} installed node_modules, and this Node is for ${cpu}`
  }
  const name = libc === 'musl' ? 'musl (Alpine)' : 'glibc'
  return `${there}, and this Node runs on ${name}: node_modules was installed on another Linux (a container?)`
}

/** @param {string} name @param {string} target @param {string} message of the system's loader */
function refused(name, target, message) {
  const words = message
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS)
  const [, known] = REFUSALS.find(([pattern]) => pattern.test(message)) ?? []
  if (known !== undefined) return `the system refuses an addon (${words}): ${known}`
  if (!isInstalled()) {
    return `the system refuses an addon (${words}): ${DAMAGED}; build it again: npm run build`
  }
  const { manager } = findProject(ROOT)
  const folder = path.dirname(resolve(`${PREFIX}${target}/${name}.${target}.node`) ?? ROOT)
  return (
    `the system refuses an addon (${words}): ${DAMAGED}; remove ${folder}, and run: ` +
    commandOf(manager, manifest)
  )
}

/** Returns whether the package was installed. A clone has no packages of targets, and builds its addons. */
function isInstalled() {
  return supportedTargets().length > 0
}

/** Returns whether this file is no longer where the package has it. */
function isBundled() {
  return !fs.existsSync(path.join(ROOT, 'lib', 'addon', 'missing.js'))
}

/** Lists the targets that have a package. @returns {string[]} */
function supportedTargets() {
  const { optionalDependencies = {} } = /** @type {any} */ (manifest)
  return Object.keys(optionalDependencies)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length))
}

/** Returns whether a target's package is there. @param {string} target */
function isResolvable(target) {
  return resolve(`${PREFIX}${target}/package.json`) !== undefined
}

/** Returns the path of a file in another package; undefined if it is not there. @param {string} file */
function resolve(file) {
  try {
    const found = require.resolve(file)
    return fs.existsSync(found) ? found : undefined
  } catch {
    return undefined
  }
}

module.exports = { explain, explainVersion }
