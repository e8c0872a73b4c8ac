'use strict'

/**
 * The ways a profiled program can end.
 * `how`: an argument of the fixture `ending.js`. `kill`: the signal sent once the fixture is ready.
 * `since`: the first version of Node that can end in this way.
 * `isWhole`: whether the program can finish its trace. `inspector`: whether its JavaScript can finish
 * the trace, so that the last window does not need V8's interrupts.
 * @type {{ name: string, how: string, flags?: string[], kill?: NodeJS.Signals, threads?: number,
 *   since?: number, isWhole: boolean, inspector?: boolean }[]}
 */
const ENDINGS = [
  { name: 'natural end', how: 'natural', isWhole: true, inspector: true },
  { name: '`process.exit(3)`', how: 'exit', isWhole: true, inspector: true },
  { name: 'uncaught exception', how: 'throw', isWhole: true, inspector: true },
  { name: 'unhandled rejection', how: 'reject', isWhole: true, inspector: true },
  { name: '`process.execve()`', how: 'execve', since: 22, isWhole: true },
  { name: 'SIGTERM, idle', how: 'idle', kill: 'SIGTERM', isWhole: true },
  { name: 'SIGINT, idle', how: 'idle', kill: 'SIGINT', isWhole: true },
  { name: 'SIGTERM, busy', how: 'busy', kill: 'SIGTERM', isWhole: true },
  { name: 'SIGKILL, busy', how: 'busy', kill: 'SIGKILL', isWhole: false },
  { name: 'SIGKILL, idle', how: 'idle', kill: 'SIGKILL', isWhole: false },
  { name: '`process.abort()`', how: 'abort', isWhole: false },
  {
    name: 'heap out of memory',
    how: 'out-of-memory',
    flags: ['--max-old-space-size=40'],
    isWhole: false,
  },
  {
    name: 'worker: natural end',
    how: 'worker-returns',
    threads: 2,
    isWhole: true,
    inspector: true,
  },
  { name: 'worker: terminated while busy', how: 'worker-terminated', threads: 2, isWhole: true },
  {
    name: 'worker: `process.exit(5)`',
    how: 'worker-exits',
    threads: 2,
    isWhole: true,
    inspector: true,
  },
  {
    name: 'main thread exits while a worker is busy',
    how: 'worker-left',
    threads: 2,
    isWhole: true,
  },
]

/** Returns whether this Node can end in a way. @param {{ since?: number }} ending */
function canEnd({ since = 0 }) {
  return Number.parseInt(process.versions.node, 10) >= since
}

module.exports = { ENDINGS, canEnd }
