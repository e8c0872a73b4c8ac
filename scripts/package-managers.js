'use strict'

// Fetches the package managers that package.spec.js installs the packed packages with, into `.matrix/`:
// `node scripts/package-managers.js`. npm comes with Node.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const DIR = path.join(__dirname, '..', '.matrix', 'package-managers')

/** The managers by name: their packages, and the names of their commands. @type {Record<string, { install: string, command: string }>} */
const MANAGERS = {
  pnpm: { install: 'pnpm@10.34.8', command: 'pnpm' },
  yarn: { install: 'yarn@1.22.22', command: 'yarn' },
  berry: { install: '@yarnpkg/cli-dist@4.18.1', command: 'yarn' },
  bun: { install: 'bun@1.4.5', command: 'bun' },
}

/** Returns the folder of a manager's command. @param {string} name */
const binOf = (name) => path.join(prefixOf(name), 'node_modules', '.bin')

/** Returns the folder of a manager; a new version has a new folder. @param {string} name */
const prefixOf = (name) => path.join(DIR, MANAGERS[name].install.replaceAll('/', '+'))

/** Returns whether a manager was fetched. @param {string} name */
const isFetched = (name) => fs.existsSync(path.join(binOf(name), MANAGERS[name].command))

/** @param {string} name */
function fetchManager(name) {
  const prefix = prefixOf(name)
  fs.mkdirSync(prefix, { recursive: true })
  fs.writeFileSync(path.join(prefix, 'package.json'), '{}')
  const install = ['install', '--silent', '--no-save', '--no-package-lock', '--prefix', prefix]
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, [...install, MANAGERS[name].install], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`could not fetch ${name} (npm install: exit code ${status})`)
}

if (require.main === module) {
  for (const name of Object.keys(MANAGERS)) if (!isFetched(name)) fetchManager(name)
}

module.exports = { MANAGERS, binOf, isFetched }
