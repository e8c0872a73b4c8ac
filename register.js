'use strict'

/**
 * Starts recording the calling thread: at its preload (`--require`, `--import`), or wherever it is
 * loaded. Trouble is said in one line on stderr, and the program runs on unprofiled; wrong settings
 * alone stop it, before its first line.
 */
function register() {
  // A second copy of the package is another addon, which cannot know of the first.
  const mark = Symbol.for('@org/cpu-prof.recorded')
  if (Object.hasOwn(process, mark)) return
  Object.defineProperty(process, mark, { value: true })

  const addon = load()
  if (addon === undefined) return
  // `worker_threads` costs the main thread milliseconds to load, and there it says 0.
  const threadId = addon.isFirstThread() ? 0 : require('node:worker_threads').threadId
  const { argv, execArgv, version } = process
  if (!addon.record({ threadId, execArgv, version }, argv)) process.exit(9)

  // Node puts a worker's script into argv after the preload.
  if (threadId !== 0) Promise.resolve().then(() => addon.nameWorker(process.argv[1]))
}

function load() {
  try {
    return require('./binding.js')
  } catch (error) {
    const reason = String(error?.message ?? error).split('\n', 1)[0]
    process._rawDebug(`cpu-prof: not profiling this thread: its addon cannot be loaded: ${reason}`)
  }
}

register()
