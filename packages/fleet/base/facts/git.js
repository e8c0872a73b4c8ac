'use strict'

// Asks git about the repository of a folder, without changing anything there.

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { repoOf } = require('./remote.js')
const { cleanCommit, cleanCount, cleanText } = require('./values.js')

/** Time that git gets for each answer: a count of commits takes the longest. */
const LIMIT_MS = 5000
/** Variables that would name another repository: a hook of git runs with them. */
const OF_A_REPOSITORY = new Set(
  [
    'DIR',
    'WORK_TREE',
    'IMPLICIT_WORK_TREE',
    'COMMON_DIR',
    'INDEX_FILE',
    'PREFIX',
    'NAMESPACE',
    'OBJECT_DIRECTORY',
    'ALTERNATE_OBJECT_DIRECTORIES',
    'SHALLOW_FILE',
    'GRAFT_FILE',
    'CONFIG',
    'REPLACE_REF_BASE',
    'NO_REPLACE_OBJECTS',
    'INTERNAL_SUPER_PREFIX',
  ].map((name) => `GIT_${name}`),
)
/** Keeps git from running hooks and watchers, and from fetching what is missing. */
const HARMLESS = [
  '--no-pager',
  '-c',
  'core.fsmonitor=false',
  '-c',
  `core.hooksPath=${path.sep}nowhere`,
  '-c',
  'protocol.allow=never',
  '-c',
  'log.showSignature=false',
]

/**
 * What git tells about a folder.
 * @typedef {object} GitFacts
 * @property {string} [root] the top level of the repository
 * @property {string} [repo] `owner/name` of the remote `origin`
 * @property {string} [commit] hash
 * @property {number} [commitSeq] count of commits up to the commit, by first parents
 * @property {string} [branch] undefined if none is checked out
 * @property {boolean} isShallow whether older commits are missing
 * @property {boolean} isDirty whether tracked files differ from the commit
 * @property {number} [movedMs] when another commit was checked out the last time, milliseconds after 1970
 * @property {string} [problem] why git tells nothing about a folder that belongs to a repository
 */

/**
 * Returns what git tells about a folder and a commit.
 * @param {string} folder that exists @param {NodeJS.ProcessEnv} env @param {string | undefined} wanted a commit instead of HEAD, in any words of git
 * @param {{ looksAtFiles: boolean }} trust whether git may compare files with the commit: it can run filters
 *   that the repository names
 * @returns {Promise<GitFacts>}
 */
async function gitFacts(folder, env, wanted, { looksAtFiles }) {
  const ask = (/** @type {string[]} */ ...args) => askGit(folder, env, args)
  const place = await ask('rev-parse', '--show-toplevel', '--is-shallow-repository')
  if (place.text === undefined) return withoutGit(folder, place.problem ?? '')
  // The name of a folder can have line breaks.
  const lines = place.text.split('\n')
  const isShallow = lines.pop()
  const root = lines.join('\n')
  const name = wanted ?? 'HEAD'
  const [commit, branch, remote, status, log] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`),
    ask('symbolic-ref', '--quiet', '--short', 'HEAD'),
    ask('config', '--get', 'remote.origin.url'),
    looksAtFiles
      ? ask('status', '--porcelain', '--untracked-files=no', '--ignore-submodules=all')
      : { text: '' },
    ask('log', '--walk-reflogs', '-1', '--format=%gd', '--date=unix', 'HEAD', '--'),
  ])
  const hash = cleanCommit(commit.text)
  return {
    root: root || undefined,
    repo: repoOf(remote.text),
    commit: hash,
    commitSeq: hash && isShallow === 'false' ? await position(ask, hash) : undefined,
    branch: cleanText(branch.text),
    isShallow: isShallow === 'true',
    isDirty: Boolean(status.text),
    movedMs: momentOf(log.text),
  }
}

/** Returns how many commits lead to one. @param {(...args: string[]) => Promise<Answer>} ask @param {string} hash */
async function position(ask, hash) {
  const { text } = await ask('rev-list', '--count', '--first-parent', hash, '--')
  return cleanCount(text)
}

/** @param {string} [text] `HEAD@{1700000000}` */
function momentOf(text) {
  const [, seconds] = /@\{(\d+)\}/.exec(text ?? '') ?? []
  return seconds === undefined ? undefined : 1000 * Number(seconds)
}

/** Returns what a folder tells where git does not. @param {string} folder @param {string} problem @returns {GitFacts} */
function withoutGit(folder, problem) {
  const root = topLevel(folder)
  const none = { isShallow: false, isDirty: false }
  if (root === undefined) return none
  const isForeign = /dubious ownership|safe\.directory/.test(problem)
  return {
    ...none,
    root,
    problem: isForeign
      ? `git does not trust ${root}, which another user owns (git config --global --add safe.directory ${root})`
      : `git does not tell about ${root}: ${cleanText(problem) ?? 'it gave no reason'}`,
  }
}

/** Returns the nearest folder above that has a repository. @param {string} folder */
function topLevel(folder) {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, '.git'))) return at
    if (at === path.dirname(at)) return undefined
  }
}

/** @typedef {{ text?: string, problem?: string }} Answer the output, or why there is none */

/** Asks git. Never rejects. @param {string} folder @param {NodeJS.ProcessEnv} env @param {string[]} args @returns {Promise<Answer>} */
function askGit(folder, env, args) {
  const others = Object.entries(env).filter(([name]) => !OF_A_REPOSITORY.has(name))
  const options = {
    cwd: folder,
    timeout: LIMIT_MS,
    killSignal: /** @type {const} */ ('SIGKILL'),
    maxBuffer: 16 << 20,
    windowsHide: true,
    env: {
      ...Object.fromEntries(others),
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      GIT_NO_LAZY_FETCH: '1',
      LC_ALL: 'C',
    },
  }
  return new Promise((resolve) => {
    try {
      execFile('git', [...HARMLESS, ...args], options, (error, stdout, stderr) =>
        resolve(
          error === null
            ? { text: stdout.replace(/\n$/, '') }
            : { problem: problemOf(error, stderr) },
        ),
      )
    } catch (error) {
      resolve({ problem: String(error) })
    }
  })
}

/** @param {import('node:child_process').ExecFileException} error @param {string} stderr */
function problemOf(error, stderr) {
  if (/** @type {any} */ (error).code === 'ENOENT') return 'git was not found'
  if (error.killed) return `git took longer than ${LIMIT_MS / 1000} s`
  return stderr.trim().split('\n', 1)[0]
}

module.exports = { gitFacts }
