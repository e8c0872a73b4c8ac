'use strict'

// Finds out which package manager installed this package, and which of its commands installs it again.

const fs = require('node:fs')
const path = require('node:path')

/** Files of a project that are larger are not read. */
const MAX_LOCK_BYTES = 50_000_000

/** The lock files, and whose they are. @type {[file: string, manager: string][]} */
const LOCK_FILES = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
]

/**
 * The commands that install a missing package of the target, also where the lock file lacks the package or
 * an earlier install left it out. npm takes such a lock file as it is, unless the package is named.
 * @type {Record<string, string>}
 */
const COMMANDS = {
  npm: 'npm install --include=optional',
  pnpm: 'pnpm install --force',
  yarn: 'yarn install --force',
  berry: 'yarn install',
  bun: 'bun install --force',
}

/** Returns the command that installs a package again. @param {string} manager @param {{ name: string, version: string }} manifest */
function commandOf(manager, { name, version }) {
  return manager === 'npm' ? `${COMMANDS.npm} ${name}@${version}` : COMMANDS[manager]
}

/** The commands that add a package to a project, for its developers. @type {Record<string, string>} */
const ADDING = {
  npm: 'npm install --save-dev',
  pnpm: 'pnpm add --save-dev',
  yarn: 'yarn add --dev',
  berry: 'yarn add --dev',
  bun: 'bun add --dev',
}

/** Returns the command that adds a package to a project. @param {string} manager @param {string} name */
const commandToAdd = (manager, name) => `${ADDING[manager]} ${name}`

/**
 * @typedef {object} Project
 * @property {string} manager
 * @property {string} [lockFile] the name of a lock file that can be read
 * @property {(name: string) => boolean} locks whether the lock file has an entry of a package
 */

/**
 * Returns the package manager of the project around a folder, and its lock file: that of the running
 * command where several are there, and npm where none is.
 * @param {string} folder @returns {Project}
 */
function findProject(folder) {
  const running = /^\w+/.exec(process.env.npm_config_user_agent ?? '')?.[0]
  for (let dir = folder; dir !== path.dirname(dir); dir = path.dirname(dir)) {
    const found = LOCK_FILES.filter(([file]) => fs.existsSync(path.join(dir, file)))
    if (found.length === 0) continue
    const [lockFile, manager] = found.find(([, name]) => name === running) ?? found[0]
    return projectOf(manager, lockFile, textOf(path.join(dir, lockFile)))
  }
  const known = running !== undefined && Object.hasOwn(COMMANDS, running)
  return { manager: known ? running : 'npm', locks: () => false }
}

/** @param {string} manager @param {string} lockFile @param {string | undefined} text @returns {Project} */
function projectOf(manager, lockFile, text) {
  // In the binary file, names cannot be looked for.
  if (text === undefined || lockFile === 'bun.lockb') return { manager, locks: () => false }
  // Other packages that ask for the package name it too, in other forms.
  const entry = (/** @type {string} */ name) =>
    manager === 'npm' ? `node_modules/${name}"` : `${name}@`
  const isBerry = manager === 'yarn' && text.includes('__metadata:')
  return {
    manager: isBerry ? 'berry' : manager,
    lockFile,
    locks: (name) => text.includes(entry(name)),
  }
}

/** Returns the text of a regular file of a sane size, else nothing. @param {string} file */
function textOf(file) {
  try {
    const stat = fs.statSync(file)
    return stat.isFile() && stat.size < MAX_LOCK_BYTES ? fs.readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

module.exports = { commandOf, commandToAdd, findProject }
