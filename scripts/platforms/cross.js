'use strict'

// Says how cargo builds a target on this machine.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { targetOf } = require('../targets.js')
const { TOOLS, fetchTools } = require('./machines.js')

/**
 * Targets that Zig links in another form than their packages have, for tests only: Microsoft's linker and
 * libraries are not for Linux.
 * @type {Record<string, string>}
 */
const STAND_INS = { 'win32-x64': 'x86_64-pc-windows-gnu' }

/** Builds the library of Rust with the addons, for targets that have none here. */
const WITH_LIBRARY = ['-Zbuild-std=std,panic_abort,panic_unwind']

/** Returns the options of `build()` for a target. @param {string} target @returns {import('../build.js').Options} */
function crossBuild(target) {
  fetchTools('zig')
  const triple = STAND_INS[target] ?? targetOf(target).triple
  const { cargo, env } = hasLibrary('rustc', triple) ? { cargo: [], env: {} } : debianRust(triple)
  /** @type {NodeJS.ProcessEnv} */
  const tools = {
    PATH: [path.join(TOOLS, 'venv', 'bin'), process.env.PATH, ...rustTools('bin')].join(':'),
    ZIG_GLOBAL_CACHE_DIR: path.join(TOOLS, 'zig'),
    ZIG_LOCAL_CACHE_DIR: path.join(TOOLS, 'zig'),
  }
  return {
    target,
    triple: STAND_INS[target],
    cargo: ['--release', '--quiet', ...cargo],
    env: { ...env, ...tools, ...stubsFor(target) },
  }
}

/** Returns whether a Rust has the library of a target. @param {string} rustc @param {string} triple */
function hasLibrary(rustc, triple) {
  const root = sysroot(rustc)
  return root !== undefined && fs.existsSync(path.join(root, 'lib/rustlib', triple, 'lib'))
}

/**
 * Returns the folders of rustup's own tools, or of their libraries. The Rust of Debian has no
 * `rust-objcopy`, which strips libraries of macOS and then signs them again.
 * @param {'bin' | 'lib'} kind
 */
function rustTools(kind) {
  const root = sysroot('rustc')
  if (root === undefined) return []
  if (kind === 'lib') return [path.join(root, 'lib')]
  const targets = path.join(root, 'lib/rustlib')
  return fs.readdirSync(targets).map((name) => path.join(targets, name, 'bin'))
}

/** Returns the folder of a Rust; undefined without the program. @param {string} rustc */
function sysroot(rustc) {
  const { status, stdout } = spawnSync(rustc, ['--print', 'sysroot'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Returns how the Rust that tools.sh fetches builds. @param {string} triple */
function debianRust(triple) {
  fetchTools('rust')
  const root = path.join(TOOLS, 'rust', 'usr')
  const hasOwn = fs.existsSync(path.join(root, 'lib/rustlib', triple, 'lib'))
  const llvm = fs.readdirSync(path.join(root, 'lib')).filter((name) => name.startsWith('llvm-'))
  const libraries = ['x86_64-linux-gnu', ...llvm.map((name) => `${name}/lib`)]
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    RUSTC: path.join(root, 'bin', 'rustc'),
    LD_LIBRARY_PATH: [
      ...libraries.map((dir) => path.join(root, 'lib', dir)),
      ...rustTools('lib'),
    ].join(':'),
    // Another compiler's files.
    CARGO_TARGET_DIR: path.join(TOOLS, 'target'),
    // Allows `-Z` in a stable Rust.
    ...(hasOwn ? {} : { RUSTC_BOOTSTRAP: '1' }),
  }
  return { cargo: hasOwn ? [] : WITH_LIBRARY, env }
}

/** Returns the environment for the stand-ins of libraries of another system. @param {string} target */
function stubsFor(target) {
  const { os } = targetOf(target)
  if (os === 'linux' || os === process.platform) return {}
  fetchTools('stubs')
  const stubs = path.join(TOOLS, 'stubs')
  const flag = os === 'darwin' ? `-Clink-arg=-F${stubs}` : `-Clink-arg=-L${stubs}`
  return { RUSTFLAGS: flag, LIBNODE_PATH: stubs }
}

module.exports = { crossBuild }
