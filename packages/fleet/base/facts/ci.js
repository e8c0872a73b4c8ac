'use strict'

// Reads what CI systems tell about a run in their environment variables.

const fs = require('node:fs')
const { repoOf } = require('./remote.js')
const { cleanCommit, cleanText } = require('./values.js')

/** The most of a file with an event that is read: 4 MB. */
const MAX_EVENT = 4 << 20

/** @typedef {NodeJS.ProcessEnv} Env */
/**
 * What a CI system tells.
 * @typedef {object} CiFacts
 * @property {string} [system] its name
 * @property {string} [repo]
 * @property {string} [checkout] hash of the commit that the system has checked out
 * @property {string} [commit] hash of the commit that the run is of, which people know
 * @property {string} [branch]
 * @property {string} [job]
 * @property {string} [root] folder of the checkout
 *
 * @typedef {object} CiSystem
 * @property {string} name
 * @property {string} variable that is set wherever the system runs
 * @property {(env: Env) => Omit<CiFacts, 'system'>} read
 */

/**
 * The CI systems. A pull request is often tested as merged into its target: that commit is nobody's, and is
 * gone when the request is. So `commit` is the head of the request's branch, where the system tells it.
 * @type {CiSystem[]}
 */
const SYSTEMS = [
  {
    name: 'GitHub Actions',
    variable: 'GITHUB_ACTIONS',
    read: (env) => ({
      repo: env.GITHUB_REPOSITORY,
      checkout: env.GITHUB_SHA,
      commit: headOfPullRequest(env) ?? env.GITHUB_SHA,
      branch: env.GITHUB_HEAD_REF || (env.GITHUB_REF_TYPE === 'tag' ? '' : env.GITHUB_REF_NAME),
      job: joined(env.GITHUB_WORKFLOW, env.GITHUB_JOB),
      root: env.GITHUB_WORKSPACE,
    }),
  },
  {
    name: 'GitLab',
    variable: 'GITLAB_CI',
    read: (env) => ({
      repo: env.CI_PROJECT_PATH,
      checkout: env.CI_COMMIT_SHA,
      // Only set where the commit is a merge.
      commit: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA,
      branch: env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME || env.CI_COMMIT_BRANCH,
      job: env.CI_JOB_NAME,
      root: env.CI_PROJECT_DIR,
    }),
  },
  {
    name: 'Jenkins',
    variable: 'JENKINS_URL',
    read: (env) => ({
      repo: repoOf(env.GIT_URL || env.GIT_URL_1),
      checkout: env.GIT_COMMIT,
      commit: env.GIT_COMMIT,
      branch: env.CHANGE_BRANCH || env.BRANCH_NAME || env.GIT_BRANCH?.replace(/^origin\//, ''),
      job: withoutBranch(env.JOB_NAME, env.BRANCH_NAME),
      root: env.WORKSPACE,
    }),
  },
  {
    name: 'Buildkite',
    variable: 'BUILDKITE',
    read: (env) => ({
      repo: repoOf(env.BUILDKITE_REPO),
      checkout: env.BUILDKITE_COMMIT,
      commit: env.BUILDKITE_COMMIT,
      branch: env.BUILDKITE_TAG ? '' : env.BUILDKITE_BRANCH,
      job: joined(env.BUILDKITE_PIPELINE_SLUG, env.BUILDKITE_LABEL || env.BUILDKITE_STEP_KEY),
      root: env.BUILDKITE_BUILD_CHECKOUT_PATH,
    }),
  },
  {
    name: 'CircleCI',
    variable: 'CIRCLECI',
    read: (env) => ({
      repo:
        repoOf(env.CIRCLE_REPOSITORY_URL) ||
        joined(env.CIRCLE_PROJECT_USERNAME, env.CIRCLE_PROJECT_REPONAME),
      checkout: env.CIRCLE_SHA1,
      commit: env.CIRCLE_SHA1,
      branch: env.CIRCLE_BRANCH,
      job: env.CIRCLE_JOB,
      root: env.CIRCLE_WORKING_DIRECTORY,
    }),
  },
]

/** Returns what the CI system of an environment tells; nothing without one. @param {Env} env @returns {CiFacts} */
function ciFacts(env) {
  const system = SYSTEMS.find(({ variable }) => env[variable])
  if (system === undefined) return {}
  const { repo, checkout, commit, branch, job, root } = system.read(env)
  return {
    system: system.name,
    repo: cleanText(repo),
    checkout: cleanCommit(checkout),
    commit: cleanCommit(commit),
    branch: cleanText(branch),
    job: cleanText(job),
    root: root || undefined,
  }
}

/** Returns the commit that a pull request on GitHub ends with, from the file with the event. @param {Env} env */
function headOfPullRequest({ GITHUB_EVENT_NAME = '', GITHUB_EVENT_PATH: file }) {
  if (!/^pull_request/.test(GITHUB_EVENT_NAME) || !file) return undefined
  try {
    if (fs.statSync(file).size > MAX_EVENT) return undefined
    return cleanCommit(JSON.parse(fs.readFileSync(file, 'utf8'))?.pull_request?.head?.sha)
  } catch {
    return undefined
  }
}

/** @param {...(string | undefined)} texts */
const joined = (...texts) => texts.filter(Boolean).join('/')

/** Returns the name of a job of Jenkins, whose last part can be the branch. @param {string} [job] @param {string} [branch] */
function withoutBranch(job, branch) {
  const ending = branch ? `/${encodeURIComponent(branch)}` : ''
  return ending !== '' && job?.endsWith(ending) ? job.slice(0, -ending.length) : job
}

module.exports = { SYSTEMS, ciFacts }
