'use strict'

// A project with the packages of a target, unpacked from what `npm pack` makes: no Rust, no clone.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { folderOf, stage } = require('../npm-package.js')
const { packageName } = require('../targets.js')
const { ROOT } = require('./machines.js')

const { name: NAME, dependencies } = require('../../package.json')
/** npm is a script for a shell on Windows. */
const SHELL = process.platform === 'win32'

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
  for (const name of [NAME, packageName(target)]) {
    const folder = path.join(dist, folderOf(name))
    const options = ['pack', '--silent', '--ignore-scripts', '--pack-destination', '.']
    const output = execFileSync('npm', options, { cwd: folder, encoding: 'utf8', shell: SHELL })
    const tarball = /** @type {string} */ (output.trim().split('\n').pop())
    const to = path.join(modules, name)
    fs.mkdirSync(to, { recursive: true })
    // Relative paths: some of Windows' versions of tar take `C:` for a machine.
    execFileSync(
      'tar',
      ['-xzf', tarball, '--strip-components=1', '-C', path.relative(folder, to)],
      {
        cwd: folder,
      },
    )
  }
  for (const name of libraries()) {
    fs.cpSync(path.join(ROOT, 'node_modules', name), path.join(modules, name), { recursive: true })
  }
  fs.cpSync(path.join(__dirname, 'program'), path.join(dir, 'program'), { recursive: true })
  fs.rmSync(dist, { recursive: true })
  return dir
}

/** Returns the names of the main package's libraries, and of theirs. */
function libraries() {
  const names = new Set(Object.keys(dependencies))
  // The libraries of libraries are added while the loop goes on.
  for (const name of names) {
    const manifest = require(path.join(ROOT, 'node_modules', name, 'package.json'))
    for (const other of Object.keys(manifest.dependencies ?? {})) names.add(other)
  }
  return [...names]
}

module.exports = { createProject }
