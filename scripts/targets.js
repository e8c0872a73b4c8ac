'use strict'

// The systems that have a package with addons: how Rust and npm call each of them.

/**
 * @typedef {object} Target
 * @property {string} triple Rust's name
 * @property {NodeJS.Platform} os
 * @property {'x64' | 'arm64'} cpu
 * @property {'glibc' | 'musl'} [libc] Linux only
 * @property {string} [floor] the oldest glibc that the addons run on
 * @property {string} [flags] of rustc
 * @property {Record<string, string>} [env] of the build
 * @property {string} title for people
 */

/** Older than the glibc of any Linux that Node 18 runs on (2.28), and the oldest that Rust supports. */
const FLOOR = '2.17'
/** Node runs on musl's own loader, so the addons must not contain a second musl. */
const DYNAMIC = '-C target-feature=-crt-static'
/** Windows has no C runtime that an addon can rely on, and Node contains its own. */
const STATIC = '-C target-feature=+crt-static'
/** The oldest macOS that Node 18 supports is 10.15; macOS on arm64 begins with 11. */
const MACOS = { MACOSX_DEPLOYMENT_TARGET: '11.0' }

/** The targets by name: `process.platform`-`process.arch`, on Linux with the libc. @type {Record<string, Target>} */
const TARGETS = {
  'linux-x64-gnu': {
    triple: 'x86_64-unknown-linux-gnu',
    os: 'linux',
    cpu: 'x64',
    libc: 'glibc',
    floor: FLOOR,
    title: 'Linux on x64 (glibc)',
  },
  'linux-arm64-gnu': {
    triple: 'aarch64-unknown-linux-gnu',
    os: 'linux',
    cpu: 'arm64',
    libc: 'glibc',
    floor: FLOOR,
    title: 'Linux on arm64 (glibc)',
  },
  'linux-x64-musl': {
    triple: 'x86_64-unknown-linux-musl',
    os: 'linux',
    cpu: 'x64',
    libc: 'musl',
    flags: DYNAMIC,
    title: 'Linux on x64 (musl)',
  },
  'linux-arm64-musl': {
    triple: 'aarch64-unknown-linux-musl',
    os: 'linux',
    cpu: 'arm64',
    libc: 'musl',
    flags: DYNAMIC,
    title: 'Linux on arm64 (musl)',
  },
  'darwin-arm64': {
    triple: 'aarch64-apple-darwin',
    os: 'darwin',
    cpu: 'arm64',
    env: MACOS,
    title: 'macOS on Apple silicon',
  },
  'darwin-x64': {
    triple: 'x86_64-apple-darwin',
    os: 'darwin',
    cpu: 'x64',
    env: MACOS,
    title: 'macOS on Intel',
  },
  'win32-x64': {
    triple: 'x86_64-pc-windows-msvc',
    os: 'win32',
    cpu: 'x64',
    flags: STATIC,
    title: 'Windows on x64',
  },
  'win32-arm64': {
    triple: 'aarch64-pc-windows-msvc',
    os: 'win32',
    cpu: 'arm64',
    flags: STATIC,
    title: 'Windows on arm64',
  },
}

/**
 * @typedef {object} Addon
 * @property {string} name of its file, before the target
 * @property {string} library Rust's name, as cargo's messages have it
 * @property {string} folder of the package that loads it, from the root: a clone has the file there
 * @property {string} prefix of the names of the targets' packages that have it
 * @property {number} mostBytes what users download, and what a process maps
 */

/** Of the addons that the main package loads. */
const OF_MAIN = { folder: '.', prefix: '@org/cpu-prof-' }

/** @type {Addon[]} */
const ADDONS = [
  { name: 'cpu-prof', library: 'cpu_prof', mostBytes: 4_500_000, ...OF_MAIN },
  { name: 'cpu-prof-tools', library: 'cpu_prof_tools_addon', mostBytes: 6_500_000, ...OF_MAIN },
  {
    name: 'cpu-prof-fleet',
    library: 'cpu_prof_fleet',
    mostBytes: 10_000_000,
    folder: 'packages/fleet',
    prefix: '@org/cpu-prof-fleet-',
  },
]

/**
 * @typedef {object} AddonPackage a target's package with addons
 * @property {string} name
 * @property {string} folder of the package that loads the addons
 * @property {Addon[]} addons
 */

/** Returns the packages of a target, those of the main package first. @param {string} target @returns {AddonPackage[]} */
function packagesOf(target) {
  const folders = [...new Set(ADDONS.map(({ folder }) => folder))]
  return folders.map((folder) => {
    const addons = ADDONS.filter((addon) => addon.folder === folder)
    return { name: addons[0].prefix + target, folder, addons }
  })
}

/** Returns the name of an addon's file. @param {string} addon @param {string} target */
const fileName = (addon, target) => `${addon}.${target}.node`

/** Returns a target's package with the addons of the main package. @param {string} target */
const packageName = (target) => OF_MAIN.prefix + target

/** Returns a target of the table; throws for any other name. @param {string} name */
function targetOf(name) {
  if (!Object.hasOwn(TARGETS, name)) {
    throw new Error(`${name} is not a target; the targets are ${Object.keys(TARGETS).join(', ')}`)
  }
  return TARGETS[name]
}

module.exports = { ADDONS, TARGETS, fileName, packageName, packagesOf, targetOf }
