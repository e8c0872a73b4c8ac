'use strict'

const { spawnSync } = require('node:child_process')
const { temporaryDirectory } = require('./files.js')

/**
 * Returns a command that mounts a file system at `mounted`, runs the command given as its last
 * arguments, and copies the traces from `mounted` to the working directory.
 * Returns undefined if this user may not mount.
 * @param {string} options the mount options, see mount(8)
 */
function withFileSystem(options) {
  const namespace = [
    ['unshare', '-rm'],
    ['unshare', '-m'],
  ].find(canMount)
  if (namespace === undefined) return undefined
  const script = `
    mkdir mounted && mount -t tmpfs -o ${options} none mounted || exit 99
    "$@"; code=$?
    cp mounted/*.trace.json . 2>/dev/null
    exit $code`
  return [...namespace, 'sh', '-c', script, 'sh']
}

/** Tries a mount in a namespace. The mount ends with the command. @param {string[]} namespace */
function canMount([command, ...args]) {
  const mount = ['mount', '-t', 'tmpfs', 'none', temporaryDirectory()]
  return spawnSync(command, [...args, ...mount]).status === 0
}

module.exports = { withFileSystem }
