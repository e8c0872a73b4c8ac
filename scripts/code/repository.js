'use strict'

// The files of the repository, and what differs from a commit.

const { spawnSync } = require('node:child_process')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')

/** Runs git, and returns its lines. Throws with what git says. @param {string[]} args */
function git(...args) {
  // The checkout can belong to another user than the one that tests it.
  const command = ['-c', `safe.directory=${ROOT}`, ...args]
  const { status, stdout, stderr, error } = spawnSync('git', command, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${error?.message ?? stderr.trim()}`)
  return stdout.split('\0').filter((line) => line !== '')
}

/** Lists the files of the repository, with those that are not committed yet. */
const listFiles = () => git('ls-files', '-z', '--cached', '--others', '--exclude-standard')

/** Lists the files that differ from a commit, with those that are not committed yet. @param {string} commit */
function filesChangedSince(commit) {
  const different = git('diff', '-z', '--name-only', '--no-renames', commit, '--')
  return [...different, ...git('ls-files', '-z', '--others', '--exclude-standard')]
}

/** Returns the last commit that this branch has in common with the one that it follows, or else the last commit. */
function baseCommit() {
  try {
    return git('merge-base', 'HEAD', '@{upstream}')[0].trim()
  } catch {
    return 'HEAD'
  }
}

module.exports = { ROOT, baseCommit, filesChangedSince, listFiles }
