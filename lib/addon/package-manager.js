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

/**
 * Returns the package manager of the project around a folder, and its lock file: that of the running
 * command where several are there, and npm where none is.
 * @param {string} folder @returns {{ manager: string, lockFile?: string, lock: string }}
 */
function findProject(folder) {
  const running = /^\w+/.exec(process.env.npm_config_user_agent ?? '')?.[0]
  for (let dir = folder; dir !== path.dirname(dir); dir = path.dirname(dir)) {
    const found = LOCK_FILES.filter(([file]) => fs.existsSync(path.join(dir, file)))
    if (found.length === 0) continue
    const [lockFile, manager] = found.find(([, name]) => name === running) ?? found[0]
    const lock = textOf(path.join(dir, lockFile))
    const isBerry = manager === 'yarn' && lock.includes('__metadata:')
    // A binary file, in which names cannot be looked for.
    if (lockFile === 'bun.lockb') return { manager, lock }
    return { manager: isBerry ? 'berry' : manager, lockFile, lock }
  }
  const known = running !== undefined && Object.hasOwn(COMMANDS, running)
  return { manager: known ? running : 'npm', lock: '' }
}

/** Returns the text of a regular file of a sane size, else nothing. @param {string} file */
function textOf(file) {
  try {
    const stat = fs.statSync(file)
    return stat.isFile() && stat.size < MAX_LOCK_BYTES ? fs.readFileSync(file, 'utf8') : ''
  } catch {
    return ''
  }
}

module.exports = { commandOf, findProject }
