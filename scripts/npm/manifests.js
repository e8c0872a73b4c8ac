'use strict'

// Writes what package.json and README.md of the published packages say.

const manifest = require('../../package.json')
const { ADDONS, TARGETS, fileName, packageName, targetOf } = require('../targets.js')

/** Facts of the main package that hold for the others too. */
const SHARED = /** @type {const} */ (['license', 'author', 'repository', 'homepage', 'bugs'])
/** What only a clone of the repository needs: nothing runs when a user installs the package. */
const OF_A_CLONE = ['scripts', 'devDependencies', 'private']

/** Returns package.json of the main package, as it is published. @returns {typeof manifest & { optionalDependencies: Record<string, string> }} */
function mainManifest() {
  const entries = Object.entries(manifest).filter(([name]) => !OF_A_CLONE.includes(name))
  const packages = Object.keys(TARGETS).map((name) => [packageName(name), manifest.version])
  return {
    .../** @type {any} */ (Object.fromEntries(entries)),
    optionalDependencies: Object.fromEntries(packages),
    // `cpu-prof run` gives the path of the preload to every Node, also to those that cannot look into
    // Yarn's archives.
    preferUnplugged: true,
  }
}

/** Returns package.json of a target's package. @param {string} name of the target */
function platformManifest(name) {
  const { os, cpu, libc, title } = targetOf(name)
  const files = ADDONS.map((addon) => fileName(addon, name))
  const shared = SHARED.filter((field) => field in manifest)
  return {
    name: packageName(name),
    version: manifest.version,
    description: `The addons of ${manifest.name} for ${title}`,
    ...Object.fromEntries(shared.map((field) => [field, Reflect.get(manifest, field)])),
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

/** Returns README.md of a target's package. @param {string} name of the target */
function platformReadme(name) {
  return `# ${packageName(name)}

The native addons of \`${manifest.name}\` for ${targetOf(name).title}. Package managers install this
package together with \`${manifest.name}\` on machines that match. There is no need to install it
directly.
`
}

module.exports = { mainManifest, platformManifest, platformReadme }
