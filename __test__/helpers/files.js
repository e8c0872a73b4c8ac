'use strict'

// Folders, files and the environment of specs.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const PACKAGE = path.join(__dirname, '..', '..')
const FIXTURES = path.join(__dirname, '..', 'fixtures')
/** A folder in memory, where there is one. */
const MEMORY = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir()

/** Returns the environment without the variables that a profiled test run passes on. */
function cleanEnv() {
  const entries = Object.entries(process.env).filter(
    ([name]) =>
      !name.startsWith('CPU_PROF_') &&
      !['NODE_OPTIONS', 'FORCE_COLOR'].includes(name) &&
      !name.startsWith('NODE_TEST'),
  )
  if (process.env.SPEC_SOURCE) entries.push(['CPU_PROF_SOURCE', process.env.SPEC_SOURCE])
  return Object.fromEntries(entries)
}

/** Creates a directory that is removed at exit. @param {string} [name] the start of its name @param {string} [parent] */
function temporaryDirectory(name = 'cpu-prof-', parent = os.tmpdir()) {
  const dir = fs.mkdtempSync(path.join(parent, name))
  temporaryDirectories.push(dir)
  return fs.realpathSync(dir)
}

/** Returns a library's path for LD_PRELOAD, which takes a space for the end of a path. @param {string} library */
function preloadable(library) {
  const link = path.join(temporaryDirectory(), path.basename(library))
  fs.symlinkSync(library, link)
  return link
}

/** @type {string[]} */
const temporaryDirectories = []
process.on('exit', () => {
  for (const dir of temporaryDirectories) fs.rmSync(dir, { recursive: true, force: true })
})

/** Returns the files with an extension in a directory, sorted by name. @param {string} dir @param {string} ending */
function filesIn(dir, ending) {
  if (!fs.existsSync(dir)) return []
  return fs
    .readdirSync(dir)
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => path.join(dir, file))
}

/** @param {string} dir */
const tracesIn = (dir) => filesIn(dir, '.trace.json')

module.exports = {
  preloadable,
  cleanEnv,
  temporaryDirectory,
  filesIn,
  tracesIn,
  PACKAGE,
  FIXTURES,
  MEMORY,
}
