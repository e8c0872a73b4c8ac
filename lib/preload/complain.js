'use strict'

// Says why a preload does not record the thread.

/** Key in the environment data, which workers inherit from their parent. */
const COMPLAINED = '@org/cpu-prof.complained'

/**
 * Prints why the thread is not recorded. Workers stay silent once a parent has printed a line, since
 * they mostly fail for the same reason.
 * @param {unknown} error
 */
function complain(error) {
  const { getEnvironmentData, setEnvironmentData } = require('node:worker_threads')
  if (getEnvironmentData(COMPLAINED)) return
  setEnvironmentData(COMPLAINED, true)
  require('../errors/say-why.js').sayWhy('not profiling this thread', error)
}

module.exports = { complain }
