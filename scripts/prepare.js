'use strict'

// `npm install` in a clone: builds the addon unless a prebuilt one fits already.

const { spawnSync } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..')

try {
  require('../lib/addon.js').load()
} catch {
  const cargo = spawnSync('cargo', ['--version'])
  if (cargo.error) {
    console.error(
      'cpu-prof: no prebuilt addon fits this machine, and there is no Rust to build one.\n' +
        'Install it (https://rustup.rs), then run `npm install` again.',
    )
    process.exit(1)
  }
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
