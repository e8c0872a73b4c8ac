'use strict'

// Fetches the package managers that package.spec.js installs the packed packages with, into `.matrix/`:
// `node scripts/package-managers.js`. npm comes with Node.

const fs = require('node:fs')
const path = require('node:path')
const { installInto } = require('./npm/npm.js')

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

async function main() {
  const missing = Object.keys(MANAGERS).filter((name) => !isFetched(name))
  for (const name of missing) await installInto(prefixOf(name), MANAGERS[name].install)
}

if (require.main === module) main()

module.exports = { binOf, isFetched }
