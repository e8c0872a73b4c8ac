'use strict'

const { spawnSync } = require('node:child_process')
const { temporaryDirectory } = require('./run.js')

/**
 * A command that runs another one with a file system of its own at `mounted`, and leaves the
 * traces of that beside it. Undefined if mounting is not allowed here.
 * @param {string} options what the file system can do, for mount(8)
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

/** Nothing stays mounted: the namespace goes with the command. @param {string[]} namespace */
function canMount([command, ...args]) {
  const mount = ['mount', '-t', 'tmpfs', 'none', temporaryDirectory()]
  return spawnSync(command, [...args, ...mount]).status === 0
}

module.exports = { withFileSystem }
