'use strict'

// Offers the recordings that a `record` has left because it was killed.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { choiceText } = require('../run/after/remains.js')
const { headersOf, listNames } = require('../run/prepare/recordings-dir.js')
const { isAlive, isPrivate, socketFolders } = require('../system/index.js')
const { printStatus } = require('../terminal/output.js')
const { PREFIX } = require('./folder.js')

/** Age from which an empty folder is nobody's, milliseconds. */
const OLD_MS = 60_000

/** Names the folders of killed records that have recordings, and removes those that have none. */
function printRemains() {
  for (const folder of findRemains()) {
    if (listNames(folder).length > 0) {
      printStatus(`an earlier record was killed${choiceText(folder, folder)}`)
    } else {
      removeOld(folder)
    }
  }
}

/** Returns this user's folders whose record has ended, and to which nobody adds. */
function findRemains() {
  const parents = new Set([path.resolve(os.tmpdir()), ...socketFolders(process.env)])
  return [...parents]
    .flatMap((parent) => listNames(parent).map((name) => path.join(parent, name)))
    .filter((folder) => {
      const [, pid] = /^(\d+)-\w+$/.exec(afterPrefix(path.basename(folder))) ?? []
      const isLeft = pid !== undefined && !isAlive(Number(pid)) && isOwn(folder)
      return isLeft && !headersOf([folder]).some(({ isGrowing }) => isGrowing)
    })
}

/** @param {string} name */
const afterPrefix = (name) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '')

/** @param {string} folder */
function isOwn(folder) {
  try {
    return isPrivate(folder)
  } catch {
    return false
  }
}

/** @param {string} folder */
function removeOld(folder) {
  try {
    // A record that starts in another container has a process id that is unknown here.
    if (Date.now() - fs.statSync(folder).mtimeMs > OLD_MS) fs.rmdirSync(folder)
  } catch {
    // Somebody else was faster.
  }
}

module.exports = { printRemains }
