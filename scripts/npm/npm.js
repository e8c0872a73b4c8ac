'use strict'

// Runs npm, which on Windows is a script that only a shell starts.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const IS_WINDOWS = process.platform === 'win32'
/** The start of the names of our packages. */
const OURS = '@org/cpu-prof'
const NPM = IS_WINDOWS ? 'npm.cmd' : 'npm'

/**
 * Runs npm to its end. No argument may hold a space, which the shell of Windows would split.
 * @param {string[]} args @param {'inherit' | 'pipe'} stdio @param {string} [cwd]
 */
function npm(args, stdio, cwd) {
  const options = { cwd, stdio, shell: IS_WINDOWS, encoding: /** @type {const} */ ('utf8') }
  const { status, stdout, error } = spawnSync(NPM, args, options)
  if (error) throw new Error(`npm cannot be started: ${error.message}`)
  return { status, stdout: stdout ?? '' }
}

/**
 * Packs a package into a folder, and returns the name of the file there.
 * @param {string} folder @param {string} [name] of a package in the registry; that of the folder without
 */
function pack(folder, name) {
  const options = ['--silent', '--ignore-scripts', '--pack-destination', '.']
  const { status, stdout } = npm(['pack', ...options, ...(name ? [name] : [])], 'pipe', folder)
  if (status !== 0) throw new Error(`npm pack ${name ?? folder} failed (exit code ${status})`)
  return /** @type {string} */ (stdout.trim().split('\n').pop())
}

/** Installs a package into a folder of its own. @param {string} prefix @param {string} name */
async function installInto(prefix, name) {
  fs.mkdirSync(prefix, { recursive: true })
  fs.writeFileSync(path.join(prefix, 'package.json'), '{}')
  const args = ['install', '--silent', '--no-save', '--no-package-lock', name]
  const child = spawn(NPM, args, { cwd: prefix, stdio: 'inherit', shell: IS_WINDOWS })
  const code = await new Promise((resolve, reject) => child.on('exit', resolve).on('error', reject))
  if (code !== 0) throw new Error(`could not fetch ${name} (npm install: exit code ${code})`)
}

/**
 * Returns the folders of the libraries that a package needs, also of those that they need. Those of other systems
 * are not there.
 * @param {string} folder of the package @param {Set<string>} [found] so far
 */
function librariesOf(folder, found = new Set()) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const { name: own, dependencies, optionalDependencies } = manifest
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    // Another package of ours.
    if (own.startsWith(OURS) && name.startsWith(OURS)) continue
    const library = libraryFrom(folder, name)
    if (library === undefined) {
      if (optionalDependencies?.[name] !== undefined) continue
      throw new Error(`${own} needs ${name}, which is not installed`)
    }
    if (found.has(library)) continue
    found.add(library)
    librariesOf(library, found)
  }
  return found
}

/** Returns the folder of a library, as Node finds the library from a folder. @param {string} folder @param {string} name @returns {string | undefined} */
function libraryFrom(folder, name) {
  const library = path.join(folder, 'node_modules', name)
  if (fs.existsSync(library)) return library
  return folder === path.dirname(folder) ? undefined : libraryFrom(path.dirname(folder), name)
}

module.exports = { npm, pack, installInto, librariesOf }
