'use strict'

// Puts what is published into `dist/`, a folder a package: the packages of JavaScript, and those of each target
// whose addons are built. `npm pack` and `npm publish` work in these folders. Also writes the folders
// `npm/<target>/` anew, which scripts/npm/manifests.js decides.

const fs = require('node:fs')
const path = require('node:path')
const { ROOT } = require('./build.js')
const { inspect } = require('./inspect.js')
const {
  PACKAGES,
  platformManifest,
  platformReadme,
  publishedManifest,
} = require('./npm/manifests.js')
const { ADDONS, TARGETS, fileName, packagesOf } = require('./targets.js')

const DIST = path.join(ROOT, 'dist')

/** Returns the name of a package's folder in `dist/`. @param {string} name of the package */
const folderOf = (name) => name.replace('@org/', '')

/** Writes package.json and README.md of each target's packages into the repository. */
function writeManifests() {
  for (const target of Object.keys(TARGETS)) {
    for (const addons of packagesOf(target)) {
      const dir = path.join(ROOT, addons.folder, 'npm', target)
      fs.mkdirSync(dir, { recursive: true })
      writeJson(path.join(dir, 'package.json'), platformManifest(target, addons))
      fs.writeFileSync(path.join(dir, 'README.md'), platformReadme(target, addons))
    }
  }
}

/**
 * Fills a folder with the packages. Returns the folders of the packages, those of the targets first, the targets
 * whose packages are there, and those that are left out because an addon is missing.
 * @param {string} [dist]
 */
function stage(dist = DIST) {
  fs.rmSync(dist, { recursive: true, force: true })
  const missing = Object.keys(TARGETS).filter((target) => !isBuilt(target))
  const built = Object.keys(TARGETS).filter((target) => !missing.includes(target))
  const platforms = built.flatMap((target) =>
    packagesOf(target).map((addons) => stagePlatform(target, addons, dist)),
  )
  const others = PACKAGES.map((each) => stagePackage(each, dist))
  return { folders: [...platforms, ...others], built, missing }
}

/** @param {string} target */
const isBuilt = (target) =>
  ADDONS.every(({ name, folder }) => fs.existsSync(path.join(ROOT, folder, fileName(name, target))))

/** @param {string} target @param {import('./targets.js').AddonPackage} addons @param {string} dist */
function stagePlatform(target, { name, folder, addons }, dist) {
  const dir = path.join(dist, folderOf(name))
  fs.cpSync(path.join(ROOT, folder, 'npm', target), dir, { recursive: true })
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(dir, 'LICENSE'))
  for (const file of addons.map((addon) => fileName(addon.name, target))) {
    fs.copyFileSync(path.join(ROOT, folder, file), path.join(dir, file))
  }
  return dir
}

/** @param {import('./npm/manifests.js').Package} of @param {string} dist */
function stagePackage(of, dist) {
  const manifest = publishedManifest(of)
  const dir = path.join(dist, folderOf(manifest.name))
  for (const file of [...manifest.files, 'README.md']) {
    fs.cpSync(path.join(ROOT, of.folder, file), path.join(dir, file), { recursive: true })
  }
  // npm adds it to a package whatever its `files` are.
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(dir, 'LICENSE'))
  writeJson(path.join(dir, 'package.json'), manifest)
  return dir
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

function main() {
  writeManifests()
  const { folders, built, missing } = stage()
  for (const dir of folders) console.log(path.relative(process.cwd(), dir))
  for (const target of missing) {
    console.error(
      `${target} is left out: its addons are not in ${ROOT} ` +
        `(node scripts/build.js --target ${target})`,
    )
  }
  // An addon that was built for this machine alone must not be published.
  const problems = built.flatMap((target) => inspect(target).problems)
  for (const line of problems) console.error(`not fit to be published: ${line}`)
  if (problems.length > 0) process.exitCode = 1
}

if (require.main === module) main()

module.exports = { folderOf, stage }
