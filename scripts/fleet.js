'use strict'

// `npm run test:fleet` and `npm run test:lake`: fetches other engines, and runs the specs that compare with
// them. Names after it select spec files.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { fetchEngines } = require('./fleet/engines.js')

const [kind, ...names] = process.argv.slice(2)
try {
  fetchEngines(kind)
  const args = [path.join(__dirname, 'specs.js'), `--kind=${kind}`, ...names]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  process.exitCode = status ?? 1
} catch (error) {
  console.error(/** @type {Error} */ (error).message)
  process.exitCode = 1
}
