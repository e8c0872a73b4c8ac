'use strict'

// Another user of the machine, as whom only root can act.

const { spawnSync } = require('node:child_process')

const NOBODY = 65534

/** The reason to skip a spec that needs another user; false as root. */
const NEEDS_ROOT = process.getuid?.() === 0 ? false : 'only root can act as another user'

/** Runs a shell script as another user. @param {string} script @param {string} cwd */
function asNeighbour(script, cwd) {
  const as = { cwd, uid: NOBODY, gid: NOBODY }
  const { status, stderr } = spawnSync('/bin/sh', ['-e', '-c', script], as)
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
}

module.exports = { asNeighbour, NEEDS_ROOT, NOBODY }
