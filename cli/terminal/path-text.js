'use strict'

// Paths as text, of any system: a recording of Windows is also read on Linux.

/**
 * Returns whether a path is an absolute one of Windows. The tools give these with slashes and a capital
 * drive: `C:/repo/a.js`, `//server/share/a.js`.
 * @param {string} file
 */
function isWindowsPath(file) {
  return /^(?:[a-z]:[\\/]|\\\\|\/\/[^/])/i.test(file)
}

/** Returns whether a path is absolute on any system. @param {string} file */
function isAbsolutePath(file) {
  return file.startsWith('/') || isWindowsPath(file)
}

/** Returns a path of Windows with slashes; any other path unchanged. @param {string} file */
function withSlashes(file) {
  return isWindowsPath(file) ? file.replaceAll('\\', '/') : file
}

/**
 * Returns whether a path begins with a text. Windows takes upper and lower case for the same.
 * @param {string} file @param {string} start
 */
function startsWithPath(file, start) {
  const beginning = file.slice(0, start.length)
  if (isWindowsPath(file)) return beginning.toLowerCase() === start.toLowerCase()
  return beginning === start
}

module.exports = { isWindowsPath, isAbsolutePath, withSlashes, startsWithPath }
