'use strict'

// A project with the packages of a target, unpacked from what `npm pack` makes: no Rust, no clone.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { folderOf, stage } = require('../npm-package.js')
const { librariesOf, pack } = require('../npm/npm.js')
const { PACKAGES } = require('../npm/manifests.js')
const { packagesOf } = require('../targets.js')
const { ROOT } = require('./machines.js')

/**
 * Creates the project in a folder whose name has a space and letters outside of ASCII.
 * @param {string} target
 */
function createProject(target) {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof smoke é日-')))
  const dist = path.join(dir, 'dist')
  const { missing } = stage(dist)
  if (missing.includes(target)) {
    throw new Error(`${target} is not built: node scripts/build.js --target ${target}`)
  }
  const modules = path.join(dir, 'node_modules')
  const names = [...PACKAGES.map(({ manifest }) => manifest), ...packagesOf(target)]
  for (const { name } of names) {
    const folder = path.join(dist, folderOf(name))
    const to = path.join(modules, name)
    fs.mkdirSync(to, { recursive: true })
    // Relative paths: some of Windows' versions of tar take `C:` for a machine.
    const place = ['--strip-components=1', '-C', path.relative(folder, to)]
    execFileSync('tar', ['-xzf', pack(folder), ...place], { cwd: folder })
  }
  const libraries = PACKAGES.flatMap(({ folder }) => [...librariesOf(path.join(ROOT, folder))])
  for (const library of new Set(libraries)) {
    fs.cpSync(library, path.join(dir, path.relative(ROOT, library)), { recursive: true })
  }
  fs.cpSync(path.join(__dirname, 'program'), path.join(dir, 'program'), { recursive: true })
  fs.rmSync(dist, { recursive: true })
  return dir
}

module.exports = { createProject }
