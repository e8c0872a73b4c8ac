'use strict'

// Builds the addons, and copies them to where the packages look for them. `node scripts/build.js` makes the
// build for tests, which takes seconds after a change, is slower, and cannot be packed. `--published` makes
// the one that is published, for this machine, and `--target linux-arm64-gnu` as the package of a target has
// it. `--triple x86_64-pc-windows-gnu` gives Rust another name of the target, for tests.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { targetName } = require('../lib/addon.js')
const { inspect } = require('./inspect.js')
const { ADDONS, fileName, targetOf } = require('./targets.js')

const ROOT = path.join(__dirname, '..')

/**
 * @typedef {object} Options
 * @property {string} [target] default: this machine, and its own libc
 * @property {string} [triple] Rust's name of the target, if it is not that of the table
 * @property {string[]} [cargo] further options of cargo
 * @property {NodeJS.ProcessEnv} [env] added to the environment
 */

/**
 * Builds all addons at once: the crates that they share are compiled once, and the addons are linked side
 * by side. Returns the built files by addon.
 * @param {Options} options @returns {Record<string, string>}
 */
function build({ target, triple, cargo = [], env = {} }) {
  const { command, variables } = target === undefined ? HERE : commandFor(target, triple)
  const args = [...command, '--message-format=json-render-diagnostics', ...cargo]
  const { status, stdout, error } = spawnSync('cargo', args, {
    cwd: ROOT,
    env: { ...process.env, ...variables, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
  })
  if (error) throw new Error(`cargo cannot be started (${error.message}); install Rust: rustup.rs`)
  if (status !== 0) throw new Error(`cargo ${args.join(' ')} failed`)
  /** @type {Record<string, string>} */
  const built = {}
  for (const line of stdout.split('\n').filter((line) => line.startsWith('{'))) {
    const { target: made, filenames } = JSON.parse(line)
    const addon = ADDONS.find(({ library }) => made?.name === library)
    const library = filenames?.find((/** @type {string} */ file) => /\.(so|dylib|dll)$/.test(file))
    if (addon && library) built[addon.name] = library
  }
  return built
}

/** How cargo builds for this machine. */
const HERE = { command: ['build', '--lib'], variables: {} }

/**
 * Returns how cargo builds for a target. Zig links what the tools of this machine cannot: for another
 * system or libc, and for an older glibc than the one here.
 * @param {string} name @param {string} [otherTriple]
 */
function commandFor(name, otherTriple) {
  const { triple, os, floor, flags, env } = targetOf(name)
  const isNative = os === process.platform && (os !== 'linux' || name === targetName())
  const rust = otherTriple ?? (floor === undefined ? triple : `${triple}.${floor}`)
  const command = isNative && floor === undefined ? ['build'] : ['zigbuild']
  /** @type {Record<string, string>} */
  const variables = { ...env }
  if (flags) variables.RUSTFLAGS = [process.env.RUSTFLAGS, flags].filter(Boolean).join(' ')
  return { command: [...command, '--lib', '--target', rust], variables }
}

/**
 * Copies built addons to the folders of their packages, unless the same are there. Returns those that were copied.
 * @param {Record<string, string>} built @param {string} target
 */
function install(built, target) {
  return ADDONS.filter((addon) => {
    const file = path.join(ROOT, addon.folder, fileName(addon.name, target))
    const bytes = fs.readFileSync(built[addon.name])
    if (fs.existsSync(file) && fs.readFileSync(file).equals(bytes)) return false
    // A process that has loaded the old file keeps the file.
    fs.rmSync(file, { force: true })
    fs.writeFileSync(file, bytes, { mode: 0o755 })
    return true
  })
}

function main() {
  const { target, triple, published } = parseArgs({
    options: {
      target: { type: 'string' },
      triple: { type: 'string' },
      published: { type: 'boolean', default: false },
    },
  }).values
  const isPublished = published || target !== undefined
  const name = target ?? targetName()
  const copied = install(build({ target, triple, cargo: isPublished ? ['--release'] : [] }), name)
  const kind = isPublished
    ? 'as it is published'
    : 'for tests (npm run build -- --published for use)'
  for (const addon of ADDONS) {
    console.log(
      `${fileName(addon.name, name)}: ${copied.includes(addon) ? 'built' : 'unchanged'}, ${kind}`,
    )
  }
  if (target === undefined) return
  const { report, problems } = inspect(target)
  for (const line of report) console.log(line)
  for (const line of problems) console.error(line)
  if (problems.length > 0) process.exitCode = 1
}

if (require.main === module) main()

module.exports = { ROOT, build, commandFor, install }
