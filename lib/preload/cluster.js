'use strict'

// Tells which worker of node:cluster the process is.

/**
 * Adds the id that the process has as a worker of `node:cluster`, if it is one. Node loads the module of a
 * worker before any preload, and deletes the id from the environment; all other programs must not load the
 * module for this.
 * @template {object} T @param {T} thread
 */
function withWorkerId(thread) {
  try {
    const { moduleLoadList = [] } = /** @type {any} */ (process)
    if (!moduleLoadList.includes('NativeModule internal/cluster/child')) return thread
    const { worker } = /** @type {any} */ (require('node:cluster'))
    return Number.isInteger(worker?.id) ? { ...thread, clusterWorker: worker.id } : thread
  } catch {
    // An earlier preload has patched what this needs.
    return thread
  }
}

module.exports = { withWorkerId }
