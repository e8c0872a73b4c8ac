'use strict'

// Runs in a clone at `npm install`: builds the addons as they are published, if none load.

const { spawnSync } = require('node:child_process')
const path = require('node:path')

try {
  const { load, loadTools } = require('../lib/addon.js')
  load()
  loadTools()
  require('../packages/fleet/addon.js').loadFleet()
} catch {
  const cargo = spawnSync('cargo', ['--version'])
  if (cargo.error) {
    console.error(
      'cpu-prof: no prebuilt addon fits this machine, and Rust, which builds one, is not installed.\n' +
        'Install Rust (https://rustup.rs), then run `npm install` again.',
    )
    process.exit(1)
  }
  const build = path.join(__dirname, 'build.js')
  const { status } = spawnSync(process.execPath, [build, '--published'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
