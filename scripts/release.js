'use strict'

// Publishes what scripts/npm-package.js has put into `dist/`: `node scripts/release.js`, in the workflow of a
// tag. The packages of the targets go first, then the main package, then those that need it: each only when the
// registry has all that it names. A second run goes on where the first one stopped.
//
// `--dry-run` checks and packs everything, and publishes nothing. `--tag v1.2.3` names the tag where no
// workflow does.

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { inspect } = require('./inspect.js')
const { folderOf } = require('./npm-package.js')
const { OTHERS } = require('./npm/manifests.js')
const { npm } = require('./npm/npm.js')
const { TARGETS, packagesOf } = require('./targets.js')

const ROOT = path.join(__dirname, '..')
const MAIN = '@org/cpu-prof'
/** The names of the packages in the order in which they are published: each step needs those before it. */
const STEPS = [
  Object.keys(TARGETS).flatMap((target) => packagesOf(target).map(({ name }) => name)),
  [MAIN],
  OTHERS.map(({ manifest }) => manifest.name),
]
/**
 * What specs replace: how often and after how long, in milliseconds, the registry is asked for the packages
 * of a step, and what looks at the addons.
 */
const MEANS = { times: 20, ms: 6000, inspect }

/**
 * @typedef {object} Release
 * @property {string} root of the repository
 * @property {string} dist the folder of the packages
 * @property {string} [tag] of git
 * @property {string} [repository] `owner/name` on GitHub, in a workflow
 * @property {boolean} isDry
 */

/** @param {string} file */
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'))

/**
 * Returns what forbids the release, a line each.
 * @param {Release} release @param {Pick<typeof MEANS, 'inspect'>} [means] @returns {string[]}
 */
function problemsOf({ root, dist, tag, repository, isDry }, means = MEANS) {
  const { version } = readJson(path.join(root, 'package.json'))
  const manifests = manifestsIn(dist)
  return [
    ...(isDry || tag !== undefined ? [] : ['there is no tag: start the workflow on one, or --tag']),
    ...differentVersions(root, version, tag, manifests),
    ...missingEntry(root, version),
    ...missingPackages(dist, version, manifests, means),
    ...otherRepository(repository, manifests),
  ]
}

/** @typedef {Map<string, any>} Manifests package.json of each package that is staged, by name */

/** @param {string} dist @returns {Manifests} */
function manifestsIn(dist) {
  const files = STEPS.flat().map((name) => path.join(dist, folderOf(name), 'package.json'))
  const staged = files.filter((file) => fs.existsSync(file)).map(readJson)
  return new Map(staged.map((manifest) => [manifest.name, manifest]))
}

/**
 * @param {string} root @param {string} version @param {string | undefined} tag
 * @param {Manifests} manifests
 */
function differentVersions(root, version, tag, manifests) {
  const cargo = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8')
  const [, rust] = /^\[workspace\.package\]\nversion = "(.+)"$/m.exec(cargo) ?? []
  const others = [
    ['Cargo.toml', rust ?? 'no version'],
    ...(tag === undefined ? [] : [['the tag', tag.replace(/^v/, '')]]),
    ...[...manifests].map(([name, manifest]) => [`${name} in dist`, manifest.version]),
  ]
  return others
    .filter(([, other]) => other !== version)
    .map(([where, other]) => `package.json has version ${version}, and ${where} has ${other}`)
}

/** @param {string} root @param {string} version */
function missingEntry(root, version) {
  const changes = fs.readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')
  const isThere = changes.split('\n').some((line) => line.startsWith(`## [${version}]`))
  return isThere ? [] : [`CHANGELOG.md has no entry '## [${version}]'`]
}

/**
 * Finds packages that are missing, that do not ask for each other in this version, or whose addons are wrong.
 * @param {string} dist @param {string} version @param {Manifests} manifests
 * @param {Pick<typeof MEANS, 'inspect'>} means
 */
function missingPackages(dist, version, manifests, means) {
  for (const name of STEPS.flat().filter((name) => !STEPS[0].includes(name))) {
    if (!manifests.has(name)) return [`${name} is not in ${dist}: run node scripts/npm-package.js`]
  }
  /** @param {string} asking @param {'dependencies' | 'optionalDependencies' | 'peerDependencies'} field @param {string} name */
  const asks = (asking, field, name) => {
    const asked = manifests.get(asking)[field]?.[name] ?? 'not at all'
    return asked === version ? [] : [`${asking} asks for ${name} ${asked}`]
  }
  const ofOthers = OTHERS.flatMap(({ manifest: { name } }) => [
    ...asks(MAIN, 'peerDependencies', name),
    ...asks(name, 'dependencies', MAIN),
  ])
  const ofTargets = Object.keys(TARGETS).flatMap((target) =>
    packagesOf(target).flatMap(({ name, folder, addons }) => {
      if (!manifests.has(name)) return [`${name} is not in ${dist}: its addons were not built`]
      const owner = OTHERS.find((each) => each.folder === folder)?.manifest.name ?? MAIN
      const { problems } = means.inspect(target, path.join(dist, folderOf(name)), addons)
      return [...asks(owner, 'optionalDependencies', name), ...problems]
    }),
  )
  return [...ofTargets, ...ofOthers]
}

/**
 * Finds packages of another repository. npm refuses the proof of where a package comes from if its
 * package.json names another one.
 * @param {string | undefined} repository @param {Manifests} manifests
 */
function otherRepository(repository, manifests) {
  if (repository === undefined) return []
  return [...manifests]
    .map(([name, manifest]) => [name, manifest.repository?.url ?? manifest.repository ?? 'none'])
    .filter(([, url]) => !url.replace(/\.git$/, '').endsWith(`/${repository}`))
    .map(([name, url]) => `${name} has the repository ${url}, and this is ${repository}`)
}

/** Returns whether the registry has a version of a package. @param {string} name @param {string} version */
function isPublished(name, version) {
  const { status, stdout } = npm(['view', `${name}@${version}`, 'version', '--json'], 'pipe')
  // Some npm print nothing about a version that does not exist.
  const answer = stdout.trim() === '' ? null : JSON.parse(stdout)
  if (status === 0) return answer === version
  if (answer?.error?.code === 'E404') return false
  throw new Error(`npm view ${name}@${version} failed: ${answer?.error?.summary ?? 'no answer'}`)
}

/** Publishes a package, unless that has happened. @param {string} name @param {string} version @param {Release} release */
function publish(name, version, { dist, isDry, repository }) {
  if (isPublished(name, version)) return console.log(`${name} ${version} is published already`)
  const args = ['publish', '--access', 'public']
  // Only a workflow can prove where a package comes from.
  if (repository !== undefined) args.push('--provenance')
  // A version such as 1.0.0-beta.1 must not become `latest`.
  if (version.includes('-')) args.push('--tag', 'next')
  if (isDry) args.push('--dry-run')
  const { status } = npm(args, 'inherit', path.join(dist, folderOf(name)))
  if (status !== 0)
    throw new Error(`npm ${args.join(' ')} failed for ${name}; nothing after it ran`)
  console.log(`${name} ${version} ${isDry ? 'could be published' : 'is published'}`)
}

/**
 * Waits until the registry has packages: a package that was published is not seen at once.
 * @param {string[]} names @param {string} version @param {Pick<typeof MEANS, 'times' | 'ms'>} means
 */
function waitFor(names, version, { times, ms }) {
  let missing = names
  for (let time = 0; ; time++) {
    missing = missing.filter((name) => !isPublished(name, version))
    if (missing.length === 0) return
    if (time === times) break
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  }
  throw new Error(`the registry does not have ${missing.join(', ')} ${version} yet; run this again`)
}

/** Publishes all packages. @param {Release} release @param {typeof MEANS} [means] */
function release(release, means = MEANS) {
  const problems = problemsOf(release, means)
  if (problems.length > 0) throw new Error(`nothing is published:\n  ${problems.join('\n  ')}`)
  const { version } = readJson(path.join(release.root, 'package.json'))
  for (const names of STEPS) {
    for (const name of names) publish(name, version, release)
    if (!release.isDry) waitFor(names, version, means)
  }
}

function main() {
  const options = /** @type {const} */ ({ 'dry-run': { type: 'boolean' }, tag: { type: 'string' } })
  const { values } = parseArgs({ options })
  const { GITHUB_REF_TYPE, GITHUB_REF_NAME, GITHUB_REPOSITORY } = process.env
  try {
    release({
      root: ROOT,
      dist: path.join(ROOT, 'dist'),
      tag: values.tag ?? (GITHUB_REF_TYPE === 'tag' ? GITHUB_REF_NAME : undefined),
      repository: GITHUB_REPOSITORY,
      isDry: values['dry-run'] ?? false,
    })
  } catch (error) {
    console.error(`release: ${/** @type {Error} */ (error).message}`)
    process.exitCode = 1
  }
}

if (require.main === module) main()

module.exports = { problemsOf, release }
