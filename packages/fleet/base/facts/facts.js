'use strict'

// Finds the facts of a run that its recordings do not tell: repository, commit, branch, job and machine.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { loadTools } = require('@org/cpu-prof/own-packages').addon
const { ciFacts } = require('./ci.js')
const { gitFacts } = require('./git.js')
const { cleanCount, cleanText } = require('./values.js')

/** Time by which a check-out may seem later than the run, since clocks of files are coarse. */
const TOLERANCE_MS = 2000
/** Digits of a commit in a sentence. */
const SHORT = 12

/** @typedef {import('../tables.js').LakeFacts} LakeFacts */
/**
 * What the user tells, which takes precedence.
 * @typedef {object} GivenFacts
 * @property {string} [repo]
 * @property {string} [commit]
 * @property {string | number} [commitSeq]
 * @property {string} [branch]
 * @property {string} [job]
 * @property {string} [host]
 *
 * @typedef {object} Circumstances
 * @property {string} [recordedIn] the working directory of the recordings
 * @property {string} cwd the working directory of this process
 * @property {number} [knownMs] a moment at which the commit of the run was checked out, after 1970
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * Returns the facts, and notes about those that are missing or doubtful.
 * @param {GivenFacts} given @param {Circumstances} circumstances
 * @returns {Promise<{ facts: LakeFacts, notes: string[] }>}
 */
async function findFacts(given, { recordedIn, cwd, knownMs = Infinity, env = process.env }) {
  const isHere = recordedIn !== undefined && isFolder(recordedIn)
  const folder = isHere ? recordedIn : cwd
  const ci = ciFacts(env)
  const own = cleanText(given.commit)
  // A recording can name any folder, and a repository there its own programs.
  const looksAtFiles = isWithin(folder, cwd) || isWithin(cwd, folder)
  const git = isFolder(folder)
    ? await gitFacts(folder, env, own, { looksAtFiles })
    : { isShallow: false, isDirty: false }
  const origin = commitOf(own, git, ci)
  const facts = {
    repo: repoOf(given, git, ci) ?? nameOf(git.root ?? recordedIn ?? folder),
    commit: origin.commit,
    commitSeq: cleanCount(given.commitSeq) ?? (await positionOf(origin.commit, git, folder, env)),
    branch: cleanText(given.branch) ?? git.branch ?? (origin.isOfCi ? ci.branch : undefined),
    job: cleanText(given.job) ?? ci.job,
    host: cleanText(given.host) ?? cleanText(os.hostname()),
    root: rootOf({ recordedIn, isHere, folder }, git, ci),
  }
  const isGuess = recordedIn !== undefined && !isHere && !(own && given.repo)
  const notes = [
    ...(isGuess ? [elsewhere(recordedIn, folder)] : []),
    ...(own === undefined ? notesOnCommit(facts, git, knownMs) : notesOnGiven(own, git)),
    ...(git.isShallow && facts.commitSeq === undefined ? [SHALLOW] : []),
  ]
  return { facts, notes }
}

const SHALLOW =
  'the position of the commit is not known, because the clone is shallow: fetch all commits ' +
  '(fetch-depth: 0), or use --commit-seq'

/** @param {string} recordedIn @param {string} folder */
const elsewhere = (recordedIn, folder) =>
  `the recordings' working directory ${recordedIn} is not on this machine: files are named from there, and ` +
  `repository and commit are those of ${folder} unless --repo and --commit name others`

/**
 * Returns the commit of the run, and whether what the CI system tells is of the same.
 * @param {string | undefined} own @param {import('./git.js').GitFacts} git @param {import('./ci.js').CiFacts} ci
 */
function commitOf(own, git, ci) {
  // A repository of its own, which the job has cloned, is not the one that the CI system knows.
  const isOfCi = git.commit === undefined || [ci.checkout, ci.commit].includes(git.commit)
  if (own !== undefined) return { commit: git.commit ?? own, isOfCi }
  return { commit: (isOfCi ? ci.commit : undefined) ?? git.commit, isOfCi }
}

/**
 * Returns the position of a commit, which is not HEAD for the head of a pull request.
 * @param {string | undefined} commit @param {import('./git.js').GitFacts} git @param {string} folder
 * @param {NodeJS.ProcessEnv} env
 */
async function positionOf(commit, git, folder, env) {
  if (commit === undefined || commit === git.commit || git.commit === undefined)
    return git.commitSeq
  const { commit: found, commitSeq } = await gitFacts(folder, env, commit, { looksAtFiles: false })
  return found === commit ? commitSeq : undefined
}

/** @param {GivenFacts} given @param {import('./git.js').GitFacts} git @param {import('./ci.js').CiFacts} ci */
function repoOf(given, git, ci) {
  const isOther = git.root !== undefined && ci.root !== undefined && !isWithin(git.root, ci.root)
  return cleanText(given.repo) ?? git.repo ?? (isOther ? undefined : ci.repo)
}

/**
 * Returns the folder that files are named from.
 * @param {{ recordedIn?: string, isHere: boolean, folder: string }} place
 * @param {import('./git.js').GitFacts} git @param {import('./ci.js').CiFacts} ci
 */
function rootOf({ recordedIn, isHere, folder }, git, ci) {
  if (recordedIn !== undefined && !isHere) return recordedIn
  if (git.root !== undefined) return git.root
  return ci.root !== undefined && isWithin(folder, ci.root) ? ci.root : folder || undefined
}

/** @param {LakeFacts} facts @param {import('./git.js').GitFacts} git @param {number} knownMs */
function notesOnCommit({ commit }, git, knownMs) {
  const problem = git.problem === undefined ? [] : [git.problem]
  if (commit === undefined) {
    return [...problem, 'the commit is not known, so trend and blame cannot name it (--commit)']
  }
  const short = commit.slice(0, SHORT)
  const hasMoved = git.movedMs !== undefined && git.movedMs > knownMs + TOLERANCE_MS
  return [
    ...problem,
    ...(hasMoved
      ? [`${short} was checked out after the run: use --commit if the run is of another commit`]
      : []),
    ...(git.isDirty ? [`files differ from the commit ${short}, which the run is counted for`] : []),
  ]
}

/** @param {string} own @param {import('./git.js').GitFacts} git */
function notesOnGiven(own, git) {
  if (git.commit !== undefined || git.root === undefined || git.problem !== undefined) return []
  return [`git does not know the commit ${own}, which is taken as it is`]
}

/** Returns the name of a folder of any system. @param {string} folder */
function nameOf(folder) {
  return (
    cleanText(
      folder
        .split(/[\\/]+/)
        .filter(Boolean)
        .at(-1),
    ) ?? 'unknown'
  )
}

/** @param {string} folder @param {string} parent */
function isWithin(folder, parent) {
  if (!path.isAbsolute(parent)) return false
  const between = path.relative(realPath(parent), realPath(folder))
  return between !== '..' && !between.startsWith(`..${path.sep}`) && !path.isAbsolute(between)
}

/** @param {string} folder */
function realPath(folder) {
  try {
    return fs.realpathSync(folder)
  } catch {
    return path.resolve(folder)
  }
}

/** Returns whether a path, which a recording can name, is a folder of this machine. @param {string} folder */
function isFolder(folder) {
  if (!path.isAbsolute(folder) || !loadTools().cpuProfIsLocalFile(folder)) return false
  return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
}

module.exports = { findFacts }
