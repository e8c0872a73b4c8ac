'use strict'

// `npm run test:fleet`: fetches other engines, and runs the specs that compare with them. Names after it
// select spec files.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { fetchEngines } = require('./fleet/engines.js')

try {
  fetchEngines()
  const args = [path.join(__dirname, 'specs.js'), '--kind=fleet', ...process.argv.slice(2)]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  process.exitCode = status ?? 1
} catch (error) {
  console.error(/** @type {Error} */ (error).message)
  process.exitCode = 1
}
