'use strict'

// Says why an addon cannot be loaded, and what to do. Loaded only when that has happened.

const fs = require('node:fs')
const path = require('node:path')
const { commandOf, findProject } = require('./package-manager.js')

/** @typedef {import('../search-addon.js').Owner} Owner */

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
 * @param {string} name of the addon @param {string} target of this Node @param {Owner} owner @param {unknown} error
 */
function explain(name, target, owner, error) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error ?? {})
  if (code === 'MODULE_NOT_FOUND') return missing(name, target, owner)
  if (code === 'ERR_DLOPEN_FAILED') return refused(name, target, owner, message)
  if (code !== 'ERR_DLOPEN_DISABLED') return undefined
  return 'this Node loads no native addons: start it with --allow-addons, or without --no-addons'
}

/**
 * Returns what the user reads about an addon of another version.
 * @param {string} target @param {string} version of the packages @param {Owner} owner
 * @param {string | undefined} found of the addon; the first versions do not tell it
 */
function explainVersion(target, version, owner, found = 'older') {
  const { folder, manifest } = owner
  if (!isInstalled(owner))
    return `this is version ${version}, and the addon is ${found}: npm run build`
  const { manager } = findProject(folder)
  return (
    `${manifest.name} is ${version}, but ${packageOf(target, owner)} is ${found}: an update did not ` +
    `replace both; run: ${commandOf(manager, manifest)}`
  )
}

/** Returns the name of a target's package. @param {string} target @param {Owner} owner */
const packageOf = (target, { manifest }) => `${manifest.name}-${target}`

/** @param {string} name @param {string} target @param {Owner} owner */
function missing(name, target, owner) {
  const { folder, manifest } = owner
  if (isBundled()) {
    return (
      `the addon ${name}.${target}.node is not beside this code, which a bundler has moved: leave ` +
      `${manifest.name} out of the bundle (external), and install it where the bundle runs`
    )
  }
  if (!isInstalled(owner)) {
    return `the addon ${name}.${target}.node is not built: npm run build (needs Rust)`
  }
  const targets = supportedTargets(owner)
  if (!targets.includes(target)) {
    return `there are no addons for ${target}, but for ${targets.join(', ')}: use a Node for one of these`
  }
  const project = findProject(folder)
  const cause = causeOf(target, targets, owner, project)
  const command = commandOf(project.manager, manifest)
  return `the package ${packageOf(target, owner)} is not installed: ${cause}; run: ${command}`
}

/**
 * @param {string} target @param {string[]} targets that have a package @param {Owner} owner
 * @param {import('./package-manager.js').Project} project
 */
function causeOf(target, targets, owner, { manager, lockFile, locks }) {
  const other = targets.find((each) => isResolvable(each, owner))
  if (other !== undefined) return copied(target, other, owner)
  if (lockFile !== undefined && !locks(packageOf(target, owner))) {
    const why =
      manager === 'npm'
        ? 'npm leaves the optional packages of other systems out of the file if node_modules exists'
        : 'the file was written for other systems'
    return `${lockFile} does not name it (${why})`
  }
  return 'the install left optional packages out (--omit=optional, --no-optional, --ignore-optional)'
}

/** @param {string} target of this Node @param {string} other the target that is installed instead @param {Owner} owner */
function copied(target, other, owner) {
  const [os, cpu, libc] = target.split('-')
  const [otherOs, otherCpu] = other.split('-')
  const there = `${packageOf(other, owner)} is there instead`
  if (os !== otherOs) {
    return `${there}, so node_modules was installed on another system, and copied or mounted here (a container?)`
  }
  if (cpu !== otherCpu) {
    return `${there}, so a Node for ${otherCpu} installed node_modules, and this Node is for ${cpu}`
  }
  const name = libc === 'musl' ? 'musl (Alpine)' : 'glibc'
  return `${there}, and this Node runs on ${name}: node_modules was installed on another Linux (a container?)`
}

/** @param {string} name @param {string} target @param {Owner} owner @param {string} message of the system's loader */
function refused(name, target, owner, message) {
  const words = message
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_WORDS)
  const [, known] = REFUSALS.find(([pattern]) => pattern.test(message)) ?? []
  if (known !== undefined) return `the system refuses an addon (${words}): ${known}`
  if (!isInstalled(owner)) {
    return `the system refuses an addon (${words}): ${DAMAGED}; build it again: npm run build`
  }
  const { folder, manifest } = owner
  const { manager } = findProject(folder)
  const file = resolve(`${packageOf(target, owner)}/${name}.${target}.node`, owner)
  const broken = path.dirname(file ?? folder)
  return (
    `the system refuses an addon (${words}): ${DAMAGED}; remove ${broken}, and run: ` +
    commandOf(manager, manifest)
  )
}

/** Returns whether the package was installed. A clone has no packages of targets, and builds its addons. @param {Owner} owner */
function isInstalled(owner) {
  return supportedTargets(owner).length > 0
}

/** Returns whether this file is no longer where the package has it. */
function isBundled() {
  return !fs.existsSync(path.join(__dirname, '..', '..', 'lib', 'addon', 'missing.js'))
}

/** Lists the targets that have a package. @param {Owner} owner @returns {string[]} */
function supportedTargets({ manifest }) {
  const prefix = `${manifest.name}-`
  return Object.keys(manifest.optionalDependencies ?? {})
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
}

/** Returns whether a target's package is there. @param {string} target @param {Owner} owner */
function isResolvable(target, owner) {
  return resolve(`${packageOf(target, owner)}/package.json`, owner) !== undefined
}

/** Returns the path of a file in another package; undefined if it is not there. @param {string} file @param {Owner} owner */
function resolve(file, owner) {
  try {
    const found = owner.require.resolve(file)
    return fs.existsSync(found) ? found : undefined
  } catch {
    return undefined
  }
}

module.exports = { explain, explainVersion }
