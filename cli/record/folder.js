'use strict'

// Opens the folder where the recorded processes write, and this process reads.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { TRACE } = require('../../lib/settings.js')
const { createFolder } = require('../run/prepare/output-dir.js')
const { headersOf, listNames } = require('../run/prepare/recordings-dir.js')
const { asUserOf, patiently, seesFolder } = require('../system/index.js')
const { printStatus } = require('../terminal/output.js')
const { quotePath } = require('../terminal/shell.js')

/** @typedef {import('../control/processes.js').Armed} Armed */
/** @typedef {import('./record.js').Started} Started */

/** The start of a folder's name, before the id of its process. */
const PREFIX = 'cpu-prof-record-'

/**
 * Opens a folder. Throws if recordings cannot be written anywhere.
 * @param {Armed[]} targets @param {string} [dir] absolute; a temporary folder if the user gave none
 * @param {boolean} [isKept] whether the recordings stay
 */
function openFolder(targets, dir, isKept) {
  const folder = dir ?? createTemporary(targets)
  if (dir !== undefined) createFolder(dir)
  /** @type {Set<string>} */
  const earlier = new Set()
  const files = () =>
    listNames(folder)
      .filter((name) => name.endsWith(TRACE) && !earlier.has(name))
      .sort()
      .map((name) => path.join(folder, name))
  for (const file of files()) earlier.add(path.basename(file))
  /** The recordings that are in the trace. @type {string[]} */
  let merged = []
  const unlink = (/** @type {string} */ file) => patiently(() => fs.unlinkSync(file))
  const removeFolder = () => {
    // Nothing else: who owns the folder can put links into it.
    files().forEach(unlink)
    patiently(() => fs.rmdirSync(folder))
  }
  const remove = () => {
    if (dir === undefined) asUserOf(targets[0].socket, removeFolder)
    else if (!isKept) merged.forEach(unlink)
  }
  let isOpen = true
  return {
    path: folder,
    /** Returns the path of the folder in the files that a process sees. @param {Armed} target */
    pathFor: ({ socket: { root } }) =>
      root !== '' && folder.startsWith(`${root}/`) ? folder.slice(root.length) : folder,
    /** Returns what was written here since the folder was opened. */
    files,
    /** Returns whether the files that a process has begun are here. @param {Started} started */
    hasFilesOf: ({ target, status }) =>
      (status.recording?.files ?? []).every((file) =>
        fs.existsSync(path.join(target.socket.root, file)),
      ),
    /** Returns the files of processes. @param {Started[]} started */
    recordings(started) {
      const pids = started.map(({ status }) => status.pid)
      merged = headersOf(files())
        .filter(({ pid }) => pid !== null && pids.includes(pid))
        .map(({ file }) => file)
      return merged
    },
    /** Leaves the recordings where they are. */
    keep() {
      isOpen = false
      printStatus(
        `the recordings are in ${folder} (to merge: cpu-prof merge ${quotePath(folder)} -o trace.json)`,
      )
    },
    /** Removes what nobody needs. */
    close() {
      try {
        if (isOpen) remove()
      } catch {
        printStatus(`recordings are left in ${folder}`)
      }
      isOpen = false
    },
  }
}

/** Creates a folder that the processes have too, and may write into. @param {Armed[]} targets */
function createTemporary(targets) {
  const [{ socket }] = targets
  if (targets.some((other) => other.socket.user !== socket.user)) {
    throw new Error(
      'the processes belong to several users, who share no folder; record those of one user, or use ' +
        '--dir with a folder in which all may write',
    )
  }
  /** @type {string[]} */
  const problems = []
  for (const parent of parentsFor(targets)) {
    try {
      const start = path.join(parent, `${PREFIX}${process.pid}-`)
      return asUserOf(socket, () => fs.mkdtempSync(start))
    } catch (error) {
      problems.push(/** @type {Error} */ (error).message)
    }
  }
  throw new Error(`there is no folder for the recordings: ${problems.join('; ')}; use --dir`)
}

/**
 * Returns where a temporary folder can be. A process of a container, or with a temporary folder of its
 * own, has at least the folder of its socket in common with this process.
 * @param {Armed[]} targets
 */
function parentsFor(targets) {
  const temporary = path.resolve(os.tmpdir())
  // A container can have the same folder, and may not write there.
  const isShared = targets.every(
    ({ pid, socket }) => socket.root === '' && seesFolder(pid, temporary) !== false,
  )
  const ofSockets = targets.map(({ socket }) => socket.folder)
  return [...(isShared ? [temporary] : []), ...new Set(ofSockets)]
}

module.exports = { openFolder, PREFIX }
