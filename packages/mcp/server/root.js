'use strict'

// Confines the server to one folder: the paths that an agent names, and what lies behind them.

const fs = require('node:fs')
const path = require('node:path')
const { loadTools } = require('@org/cpu-prof/own-packages').addon
const { runsIn } = require('@org/cpu-prof/own-packages').offline
const { RUNS } = require('@org/cpu-prof/own-packages').settings
const { isBelow, placeOf } = require('@org/cpu-prof/own-packages').codeFile
const { headersOf } = require('@org/cpu-prof/own-packages').recordingsDir
const { IS_WINDOWS } = require('@org/cpu-prof/own-packages').system
const { isWindowsPath, withSlashes } = require('@org/cpu-prof/own-packages').pathText

/** An error whose text is for the agent. */
class Refusal extends Error {}

/** @param {string} folder */
function openRoot(folder) {
  let root
  try {
    root = fs.realpathSync(folder)
  } catch {
    throw new Error(`the root ${folder} does not exist; name a folder with --root`)
  }
  if (!fs.statSync(root).isDirectory()) {
    throw new Error(`the root ${folder} is not a folder; name a folder with --root`)
  }
  return new Root(root, path.resolve(folder))
}

class Root {
  /** @param {string} folder without links @param {string} given the same, as the user wrote it */
  constructor(folder, given) {
    this.folder = folder
    this.given = given
    /** Where runs are recorded. */
    this.runs = path.join(folder, RUNS)
  }

  /**
   * Returns the real path of a file or folder. Throws unless it exists below the root. Nothing outside
   * is looked at, except by way of links that are inside.
   * @param {string} named
   */
  confine(named) {
    const outside = new Refusal(
      `${named} is outside of the project, and was not looked for; paths count from ${this.folder}, and ` +
        'cpu-prof mcp --root names another folder',
    )
    if (isWindowsPath(named) && !IS_WINDOWS) throw outside
    const absolute = path.resolve(this.folder, named)
    // A share would get the user's credentials.
    if (!loadTools().cpuProfIsLocalFile(withSlashes(absolute))) throw outside
    if (![this.folder, this.given].some((root) => isInside(absolute, root))) throw outside
    const { real, isWhole } = placeOf(absolute)
    if (real === undefined || !isInside(real, this.folder)) throw outside
    if (!isWhole) throw new Refusal(`${named} does not exist in ${this.folder}`)
    return real
  }

  /** Returns a folder for a command. @param {string} named */
  folderFor(named) {
    const folder = this.confine(named)
    if (!fs.statSync(folder).isDirectory()) throw new Refusal(`${named} is not a folder`)
    return folder
  }

  /** Returns the folder of the runs, which need not exist. Throws if a link leads elsewhere. */
  runsFolder() {
    const isThere = fs.lstatSync(this.runs, { throwIfNoEntry: false }) !== undefined
    return isThere ? this.folderFor(RUNS) : this.runs
  }

  /** Returns the names of the recorded runs, the oldest first. */
  listRuns() {
    const folder = this.runsFolder()
    return fs.existsSync(folder) ? runsIn(folder).runs.map((run) => this.nameOf(run)) : []
  }

  /** Returns the name of a run, or a path from the root. @param {string} file */
  nameOf(file) {
    const [from, to] = isInside(file, this.runs) ? [this.runs, file] : [this.folder, file]
    return path.relative(from, to).replaceAll(path.sep, '/') || '.'
  }

  /**
   * Returns the recordings that an agent names: a run, or a path; without a name, the last run.
   * @param {string} [named]
   */
  find(named) {
    const last = named ?? this.listRuns().at(-1)
    if (last === undefined) {
      throw new Refusal(`there is no run in ${this.runs} yet; the tool record makes one`)
    }
    const inRuns = path.join(this.runs, last)
    const isRun = !path.isAbsolute(last) && isBelow(inRuns, this.runs) && fs.existsSync(inRuns)
    const found = this.confine(isRun ? inRuns : last)
    for (const { file } of headersOf([found])) this.confine(file)
    return found
  }

  /**
   * Returns one run of recordings: of several runs of one command the last.
   * @param {string} [named] @returns {{ file: string, note?: string }}
   */
  findOne(named) {
    const found = this.find(named)
    const { runs } = runsIn(found)
    const last = runs.at(-1)
    if (last === undefined || runs.length === 1) return { file: found }
    return { file: last, note: `the last of ${runs.length} runs in ${this.nameOf(found)}` }
  }
}

/** @param {string} file @param {string} folder */
const isInside = (file, folder) => file === folder || isBelow(file, folder)

module.exports = { openRoot, Refusal }
