'use strict'

// Writes what package.json and README.md of the published packages say.

const fs = require('node:fs')
const path = require('node:path')
const manifest = require('../../package.json')
const { ADDONS, TARGETS, fileName, packagesOf, targetOf } = require('../targets.js')

const ROOT = path.join(__dirname, '..', '..')
/** Facts of the main package that hold for the others too. */
const SHARED = /** @type {const} */ (['license', 'author', 'repository', 'homepage', 'bugs'])
/** What only a clone of the repository needs: nothing runs when a user installs the package. */
const OF_A_CLONE = ['scripts', 'devDependencies', 'private', 'workspaces']

/**
 * @typedef {object} Package a package whose code is JavaScript
 * @property {string} folder from the root
 * @property {any} manifest its package.json in the repository
 */

/** The packages, the main one first. @type {Package[]} */
const PACKAGES = [
  { folder: '.', manifest },
  ...fs.readdirSync(path.join(ROOT, 'packages')).map((name) => {
    const folder = `packages/${name}`
    return { folder, manifest: require(path.join(ROOT, folder, 'package.json')) }
  }),
]
/** The others, which the main package finds where they are installed. */
const OTHERS = PACKAGES.slice(1)

/** Returns package.json of a package, as it is published. @param {Package} of @returns {any} */
function publishedManifest({ folder, manifest: own }) {
  const { version } = manifest
  const isMain = own === manifest
  const entries = Object.entries(own).filter(([name]) => !OF_A_CLONE.includes(name))
  /** @type {Record<string, any>} */
  const published = { ...sharedFields(), ...Object.fromEntries(entries), version }
  if (!isMain) published.dependencies = { ...own.dependencies, [manifest.name]: version }
  if (isMain) Object.assign(published, optionalPeers(version))
  if (!ADDONS.some((addon) => addon.folder === folder)) return published
  const addons = Object.keys(TARGETS).flatMap((target) =>
    packagesOf(target).filter((each) => each.folder === folder),
  )
  return {
    ...published,
    optionalDependencies: Object.fromEntries(addons.map(({ name }) => [name, version])),
    // `cpu-prof run` gives the path of the preload to every Node, also to those that cannot look into
    // Yarn's archives.
    preferUnplugged: true,
  }
}

/** Returns what lets package managers show the other packages to the main one. @param {string} version */
function optionalPeers(version) {
  const names = OTHERS.map(({ manifest }) => manifest.name)
  return {
    peerDependencies: Object.fromEntries(names.map((name) => [name, version])),
    peerDependenciesMeta: Object.fromEntries(names.map((name) => [name, { optional: true }])),
  }
}

/** @returns {Record<string, any>} */
function sharedFields() {
  const shared = SHARED.filter((field) => field in manifest)
  return Object.fromEntries(shared.map((field) => [field, Reflect.get(manifest, field)]))
}

/** Returns package.json of a target's package. @param {string} target @param {import('../targets.js').AddonPackage} of */
function platformManifest(target, { name, folder, addons }) {
  const { os, cpu, libc, title } = targetOf(target)
  const files = addons.map((addon) => fileName(addon.name, target))
  return {
    name,
    version: manifest.version,
    description: `The ${wordOf(addons)} of ${ownerOf(folder)} for ${title}`,
    ...sharedFields(),
    engines: manifest.engines,
    main: files[0],
    files,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    // The system's loader cannot look into Yarn's archives.
    preferUnplugged: true,
  }
}

/** Returns README.md of a target's package. @param {string} target @param {import('../targets.js').AddonPackage} of */
function platformReadme(target, { name, folder, addons }) {
  const owner = ownerOf(folder)
  return `# ${name}

The native ${wordOf(addons)} of \`${owner}\` for ${targetOf(target).title}, installed together with it.
`
}

/** Returns the name of the package in a folder. @param {string} folder */
const ownerOf = (folder) => PACKAGES.find((each) => each.folder === folder)?.manifest.name

/** @param {unknown[]} addons */
const wordOf = (addons) => (addons.length === 1 ? 'addon' : 'addons')

module.exports = { OTHERS, PACKAGES, platformManifest, platformReadme, publishedManifest }
