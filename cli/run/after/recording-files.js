'use strict'

// Moves and removes recordings, together with the folders that they leave empty.

const fs = require('node:fs')
const path = require('node:path')
const { patiently } = require('../../system/index.js')
const { createFolder } = require('../prepare/output-dir.js')

/**
 * Moves files into a folder, with the subfolders that they are in.
 * @param {string[]} files @param {string} from @param {string} to
 */
function moveFiles(files, from, to) {
  createFolder(to)
  for (const file of files) {
    const target = path.join(to, path.relative(from, file))
    fs.mkdirSync(path.dirname(target), { recursive: true })
    move(file, target)
  }
  removeEmptyFolders(files, from)
}

/** @param {string} file @param {string} target */
function move(file, target) {
  try {
    patiently(() => fs.renameSync(file, target))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EXDEV') throw error
    // Another file system.
    fs.copyFileSync(file, target)
    patiently(() => fs.unlinkSync(file))
  }
}

/** Removes files, and the subfolders that they leave empty. @param {string[]} files @param {string} within */
function removeFiles(files, within) {
  for (const file of files) {
    try {
      patiently(() => fs.unlinkSync(file))
    } catch {
      // Gone already.
    }
  }
  removeEmptyFolders(files, within)
}

/** @param {string[]} files that are gone @param {string} within */
function removeEmptyFolders(files, within) {
  for (const file of files) {
    try {
      for (let dir = path.dirname(file); dir.length > within.length; dir = path.dirname(dir)) {
        fs.rmdirSync(dir)
      }
    } catch {
      // Not empty, or gone.
    }
  }
}

module.exports = { moveFiles, removeFiles }
