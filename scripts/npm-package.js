'use strict'

// Puts what is published into `dist/`, a folder a package: the main package, and the package of each target
// whose addons are in the root. `npm pack` and `npm publish` work in these folders. Also writes
// `npm/<target>/` anew, which scripts/npm/manifests.js decides.

const fs = require('node:fs')
const path = require('node:path')
const { ROOT } = require('./build.js')
const { mainManifest, platformManifest, platformReadme } = require('./npm/manifests.js')
const { ADDONS, TARGETS, fileName, packageName } = require('./targets.js')

const DIST = path.join(ROOT, 'dist')
/** npm adds these to a package whatever its `files` are. */
const ALWAYS = ['README.md', 'LICENSE']

/** Returns the name of a package's folder in `dist/`. @param {string} name of the package */
const folderOf = (name) => name.replace('@org/', '')

/** Writes package.json and README.md of each target's package into the repository. */
function writeManifests() {
  for (const target of Object.keys(TARGETS)) {
    const dir = path.join(ROOT, 'npm', target)
    fs.mkdirSync(dir, { recursive: true })
    writeJson(path.join(dir, 'package.json'), platformManifest(target))
    fs.writeFileSync(path.join(dir, 'README.md'), platformReadme(target))
  }
}

/**
 * Fills a folder with the packages. Returns the folders of the packages, the main package last, and the
 * targets that are left out because an addon is missing.
 * @param {string} [dist]
 */
function stage(dist = DIST) {
  fs.rmSync(dist, { recursive: true, force: true })
  const missing = Object.keys(TARGETS).filter((target) => !isBuilt(target))
  const built = Object.keys(TARGETS).filter((target) => !missing.includes(target))
  const platforms = built.map((target) => stagePlatform(target, dist))
  return { folders: [...platforms, stageMain(dist)], missing }
}

/** @param {string} target */
const isBuilt = (target) =>
  ADDONS.every((addon) => fs.existsSync(path.join(ROOT, fileName(addon, target))))

/** @param {string} target @param {string} dist */
function stagePlatform(target, dist) {
  const dir = path.join(dist, folderOf(packageName(target)))
  fs.cpSync(path.join(ROOT, 'npm', target), dir, { recursive: true })
  for (const file of ['LICENSE', ...ADDONS.map((addon) => fileName(addon, target))]) {
    fs.copyFileSync(path.join(ROOT, file), path.join(dir, file))
  }
  return dir
}

/** @param {string} dist */
function stageMain(dist) {
  const manifest = mainManifest()
  const dir = path.join(dist, folderOf(manifest.name))
  for (const file of [...manifest.files, ...ALWAYS]) {
    fs.cpSync(path.join(ROOT, file), path.join(dir, file), { recursive: true })
  }
  writeJson(path.join(dir, 'package.json'), manifest)
  return dir
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

function main() {
  writeManifests()
  const { folders, missing } = stage()
  for (const dir of folders) console.log(path.relative(process.cwd(), dir))
  for (const target of missing) {
    console.error(
      `${packageName(target)} is left out: its addons are not in ${ROOT} ` +
        `(node scripts/build.js --target ${target})`,
    )
  }
}

if (require.main === module) main()

module.exports = { folderOf, stage }
