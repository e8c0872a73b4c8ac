'use strict'

// Finds what has the name of a control socket in a folder, on all systems.

const fs = require('node:fs')
const path = require('node:path')

/** The name of a socket: the process's id and start. */
const NAME = /^(\d{1,10})-\d+\.sock$/
/** Names of a folder that are looked at, as a guard against a user who leaves any number to root. */
const MAX_NAMES = 10_000

/** Returns what has the name of a socket in a folder. @param {string} folder */
function namedIn(folder) {
  return namesIn(folder).flatMap((name) => {
    const pid = Number(NAME.exec(name)?.[1])
    return pid > 0 ? [{ file: path.join(folder, name), folder, pid, outerPid: pid }] : []
  })
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return fs.readdirSync(folder).slice(0, MAX_NAMES)
  } catch {
    return []
  }
}

module.exports = { namedIn }
