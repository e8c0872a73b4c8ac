'use strict'

// The files of a lake: a folder, or a bucket of an object store. What they mean is not known here.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { resultOf } = require('@org/cpu-prof/own-packages').jsonResult
const { loadFleet } = require('../addon.js')
const { opened, variablesOf } = require('./calls.js')

/** @typedef {import('../addon-types.d.ts').External<'Lake'>} Handle */
/**
 * @typedef {object} AddedRun
 * @property {string} repo `owner/name`
 * @property {string} date day of the run's start (UTC), as 2026-01-31
 * @property {string} stem `<run id>-<content hash>`
 * @property {string} folder has `<table>.parquet` of each table
 * @property {boolean} [replace] whether a run that is there with other contents is replaced
 *
 * @typedef {object} Wanted
 * @property {string} [repo] all repositories without
 * @property {string} [from] the first day
 * @property {string} [to] the last day
 * @property {string[]} tables whose files are wanted
 *
 * @typedef {object} Partition a day of a repository
 * @property {string} repo
 * @property {string} date
 * @property {string[]} stems that are live: together they have each run once
 * @property {string[]} replacedStems which are there, and which nobody reads
 * @property {number} nextChange the number for `commit`
 *
 * @typedef {object} Live
 * @property {Partition[]} partitions
 * @property {Record<string, string[]>} files paths of live files on this machine, by table
 * @property {number} ignored count of files that are of nothing of ours, or of incomplete runs
 *
 * @typedef {object} Change
 * @property {string} repo
 * @property {string} date
 * @property {number} number from `nextChange`
 * @property {{ stem: string, folder: string }[]} adds
 * @property {string[]} replaces stems
 *
 * @typedef {object} Store
 * @property {boolean} isRemote
 * @property {(run: AddedRun) => Promise<{ outcome: 'added' | 'present' | 'replaced' }>} addRun
 * @property {(wanted: Wanted) => Promise<Live>} live fetches the files of a remote lake that were not fetched before
 * @property {(change: Change) => Promise<{ committed: boolean }>} commit uploads files, then the change; not
 *   committed if another change has the number: then look again with `live`
 * @property {(options: { graceMs: number }) => Promise<{ removed: number }>} sweep removes files that nobody
 *   has read for a time, which is longer than any reading and any upload
 */

/**
 * Opens a lake: a folder, which is made when the first run is added, or `s3://bucket/prefix`. Throws for an
 * address that is neither.
 * @param {string} lake @param {NodeJS.ProcessEnv} [env] has the variables AWS_… @returns {Store}
 */
function openStore(lake, env = process.env) {
  const addon = loadFleet()
  const address = lake.includes('://') ? lake : path.resolve(lake)
  const handle = opened(() => addon.cpuProfLakeOpen(address, variablesOf(env, 'AWS_')))
  const isRemote = addon.cpuProfLakeIsRemote(handle)
  /**
   * @template T @param {(handle: Handle, request: string) => Promise<string>} work
   * @param {object} request @returns {Promise<T>}
   */
  const call = (work, request) => resultOf(() => work(handle, JSON.stringify(request)))
  return {
    isRemote,
    addRun: async ({ replace = false, ...run }) => ({
      outcome: await call(addon.cpuProfLakeAdd, { ...run, replace }),
    }),
    live: async (wanted) => {
      const cache = isRemote ? cacheFolder(env) : undefined
      return call(addon.cpuProfLakeLive, { ...wanted, cache })
    },
    commit: async (change) => ({ committed: await call(addon.cpuProfLakeCommit, change) }),
    sweep: async ({ graceMs }) => ({ removed: await call(addon.cpuProfLakeSweep, { graceMs }) }),
  }
}

/** Returns a folder for fetched files, which only this user can read. @param {NodeJS.ProcessEnv} env */
function cacheFolder(env) {
  const { XDG_CACHE_HOME } = env
  // A relative path is none, as the specification of the variable says.
  const isSet = XDG_CACHE_HOME !== undefined && path.isAbsolute(XDG_CACHE_HOME)
  const home = isSet ? XDG_CACHE_HOME : path.join(os.homedir(), '.cache')
  const folder = path.join(home, 'cpu-prof', 'lake')
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    throw new Error(
      `cpu-prof: the folder for fetched files cannot be made (${message}); XDG_CACHE_HOME names another`,
    )
  }
  const { uid, mode } = fs.lstatSync(folder)
  const user = process.geteuid?.()
  if (user !== undefined && (uid !== user || (mode & 0o022) !== 0)) {
    throw new Error(
      `cpu-prof: others can write into ${folder}, the folder for fetched files; remove it, or name ` +
        'another with XDG_CACHE_HOME',
    )
  }
  return folder
}

module.exports = { openStore }
