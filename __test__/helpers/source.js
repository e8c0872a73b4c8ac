'use strict'

const { SOURCE } = require('./run.js')

/** Whether the specs run with the inspector source. */
const isInspector = SOURCE === 'inspector'

/** Returns the reason to skip a spec with the walk; false with other sources. @param {string} reason */
const walkCannot = (reason) => SOURCE === 'walk' && `walk: ${reason}`

/** Returns the reason to skip a spec with the inspector source; false with `v8`. @param {string} reason */
const inspectorCannot = (reason) => isInspector && `inspector: ${reason}`

module.exports = {
  isInspector,
  NEEDS_INTERRUPT: inspectorCannot(
    'a thread that does not return to its event loop gives no samples',
  ),
  /** Only Linux counts how often a thread waits. */
  NEEDS_BLOCKED_CALLS: process.platform !== 'linux' && 'only Linux tells blocked calls from work',
  NEEDS_WAKE_UP: inspectorCannot('the last window of a thread cannot be taken before a signal'),
  NEEDS_SUSPENSION:
    inspectorCannot('its timer wakes the thread') ||
    walkCannot('it has no thread that shows the suspension'),
  NEEDS_SAMPLING_THREAD: walkCannot("it has no thread of V8's that takes samples"),
  NEEDS_TO_SHARE_THE_SIGNAL: walkCannot(
    "V8's profiler records beside another profiler, with a line",
  ),
  NEEDS_TO_READ_NOTHING: walkCannot(
    "V8's profiler records where memory cannot be read, with a line",
  ),
  NEEDS_BUILT_INS_BY_TEXT: walkCannot('functions that C++ implements have frames'),
  NEEDS_OTHER_ADDONS_UNNAMED: walkCannot('the functions of addons have names'),
  NEEDS_NATIVE_NAMES:
    Number(process.versions.node.split('.')[0]) < 22 &&
    walkCannot('before Node 22, functions of C++ that optimized code calls have no names'),
  NEEDS_REASONS_AGAINST_OPTIMIZATION: walkCannot('V8 says them in its profiles only'),
  NEEDS_THE_VERY_END: inspectorCannot('its exit listener runs before those of the program'),
  NEEDS_TO_BE_UNSEEN: inspectorCannot('the program can see its exit listener'),
  NEEDS_TO_REACH_WORKERS:
    Number(process.versions.node.split('.')[0]) < 22 &&
    inspectorCannot('workers are recorded from Node 22 on'),
  NEEDS_AN_INSPECTOR: inspectorCannot(
    'the first process of `node --test` has no inspector and prints a message about it',
  ),
  NEEDS_SCRIPT_MAPS: inspectorCannot('it records no source maps of code in memory'),
  NEEDS_NO_JAVASCRIPT: inspectorCannot('it needs the global JSON object'),
}
