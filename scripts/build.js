'use strict'

// Builds the addons, and copies them to where lib/addon.js looks for them.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..')
/** The addons, by the names of their crates. */
const ADDONS = ['cpu-prof', 'cpu-prof-tools']
const PLATFORM = 'linux-x64-gnu'

/**
 * Builds all addons at once: the crates that they share are compiled once, and the addons are linked side
 * by side.
 * @param {string[]} options of cargo @returns {Record<string, string>} the built files, by addon
 */
function build(options) {
  const format = '--message-format=json-render-diagnostics'
  const { status, stdout, error } = spawnSync('cargo', ['build', format, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (error) throw error
  if (status !== 0) throw new Error('cargo build failed')
  /** @type {Record<string, string>} */
  const built = {}
  for (const line of stdout.split('\n').filter((line) => line.startsWith('{'))) {
    const { target, filenames } = JSON.parse(line)
    const addon = ADDONS.find((name) => target?.name === name.replaceAll('-', '_'))
    const library = filenames?.find((/** @type {string} */ file) => /\.(so|dylib|dll)$/.test(file))
    if (addon && library) built[addon] = library
  }
  return built
}

/** Returns the name of an addon's file on this platform. @param {string} addon */
const fileName = (addon) => `${addon}.${PLATFORM}.node`

function main() {
  const built = build(['--release'])
  for (const addon of ADDONS) {
    const target = path.join(ROOT, fileName(addon))
    // A process that has loaded the old file keeps the file.
    fs.rmSync(target, { force: true })
    fs.copyFileSync(built[addon], target)
  }
}

if (require.main === module) main()

module.exports = { ADDONS, ROOT, build, fileName }
