'use strict'

const { SOURCE } = require('./run.js')

/** Whether the specs run with the inspector source. */
const isInspector = SOURCE === 'inspector'

/** What it cannot do, for a spec's `skip`: false with V8's own functions. @param {string} reason */
const inspectorCannot = (reason) => isInspector && `inspector: ${reason}`

module.exports = {
  isInspector,
  NEEDS_INTERRUPT: inspectorCannot('a thread that does not return to its event loop gives nothing'),
  NEEDS_WAKE_UP: inspectorCannot('a thread cannot be asked for its last window before a signal'),
  NEEDS_THE_VERY_END: inspectorCannot('its exit listener comes before those of the program'),
  NEEDS_TO_BE_UNSEEN: inspectorCannot('its exit listener is seen'),
  NEEDS_TO_REACH_WORKERS:
    Number(process.versions.node.split('.')[0]) < 22 &&
    inspectorCannot('workers are reached from Node 22 on'),
  NEEDS_AN_INSPECTOR: inspectorCannot('the first process of `node --test` has none, and says so'),
  NEEDS_NO_JAVASCRIPT: inspectorCannot('it needs JSON'),
}
