'use strict'

// The packages as they are published, from the addons of this checkout.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { targetName } = require('../../lib/addon.js')
const { folderOf, stage } = require('../../scripts/npm-package.js')
const { librariesOf } = require('../../scripts/npm/npm.js')
const { TARGETS, fileName, packageName, packagesOf } = require('../../scripts/targets.js')
const { temporaryDirectory, PACKAGE } = require('./files.js')

const TARGET = targetName()
const { dependencies, name: NAME, version: VERSION } = require('../../package.json')

/** @type {string | undefined} */
let staged

/** Returns the folder of a published package, unpacked. @param {string} name */
function stagedPackage(name) {
  if (staged === undefined) {
    staged = temporaryDirectory()
    stage(staged)
    for (const target of Object.keys(TARGETS)) standIn(target, staged)
  }
  return path.join(staged, folderOf(name))
}

/**
 * Makes the packages of a target that was not built here: nobody can install them on this machine, but a
 * registry has them.
 * @param {string} target @param {string} dist
 */
function standIn(target, dist) {
  for (const { name, folder, addons } of packagesOf(target)) {
    const dir = path.join(dist, folderOf(name))
    if (fs.existsSync(dir)) continue
    fs.cpSync(path.join(PACKAGE, folder, 'npm', target), dir, { recursive: true })
    for (const addon of addons) {
      fs.writeFileSync(path.join(dir, fileName(addon.name, target)), 'no addon')
    }
  }
}

/**
 * Packs all packages and the libraries of the main package.
 * @returns {import('./registry.js').Packed[]}
 */
function packAll() {
  const folders = [
    ...[NAME, ...Object.keys(TARGETS).map(packageName)].map(stagedPackage),
    ...librariesOf(PACKAGE),
  ]
  const dir = temporaryDirectory()
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', dir, ...folders]
  const output = execFileSync('npm', pack, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  // A list, or from npm 12 on an object of the names.
  const packed = /** @type {{ filename: string }[]} */ (Object.values(JSON.parse(output)))
  return folders.map((folder, i) => ({
    manifest: JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')),
    file: path.join(dir, packed[i].filename),
  }))
}

/**
 * Creates a project into which the main package was copied, with its libraries and some targets' packages.
 * @param {string[]} targets
 */
function projectWith(targets) {
  const project = temporaryDirectory()
  const modules = path.join(project, 'node_modules')
  fs.mkdirSync(path.join(modules, '@org'), { recursive: true })
  for (const name of [NAME, ...targets.map(packageName)]) {
    fs.cpSync(stagedPackage(name), path.join(modules, name), { recursive: true })
  }
  for (const name of Object.keys(dependencies)) {
    fs.symlinkSync(path.join(PACKAGE, 'node_modules', name), path.join(modules, name))
  }
  return project
}

module.exports = { NAME, TARGET, VERSION, packAll, projectWith, stagedPackage }
