'use strict'

// Another user of the machine, as whom only root can act.

const { spawnSync } = require('node:child_process')
const { PACKAGE } = require('./files.js')

const NOBODY = 65534

/** The reason to skip a spec that needs another user; false as root. */
const NEEDS_ROOT = process.getuid?.() === 0 ? false : 'only root can act as another user'

/** The reason to skip a spec in which another user loads the package; false where that is possible. */
const NEEDS_NEIGHBOUR = NEEDS_ROOT || whyHidden(PACKAGE) || whyHidden(process.execPath)

/** Returns why another user cannot read a path; false if he can. @param {string} file */
function whyHidden(file) {
  const as = { uid: NOBODY, gid: NOBODY }
  return spawnSync('test', ['-r', file], as).status !== 0 && `other users cannot read ${file}`
}

/** Runs a shell script as another user. @param {string} script @param {string} cwd */
function asNeighbour(script, cwd) {
  const as = { cwd, uid: NOBODY, gid: NOBODY }
  const { status, stderr } = spawnSync('/bin/sh', ['-e', '-c', script], as)
  if (status !== 0) throw new Error(`${script}: ${stderr}`)
}

module.exports = { asNeighbour, NEEDS_NEIGHBOUR, NEEDS_ROOT }
