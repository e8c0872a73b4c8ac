'use strict'

// The event of a call of console.timeStamp().

const { clockOffsetUs } = require('./clock.js')

/** Where the trace's clock is at 0 ms of `performance.now()`, microseconds; undefined before the first call. @type {number | undefined} */
let offsetUs

/**
 * Returns the event of a call of `console.timeStamp(label, start, end, track, group, color)`, JSON. Both times
 * are milliseconds of `performance.now()`, or labels of earlier calls.
 * @param {import('../addon.js').Recorder} addon @param {import('../thread.js').Originals} originals @param {any[]} args
 */
function eventOf(addon, { stringify, hrtime }, args) {
  const [label = 'default', start, end, track, trackGroup, color] = args
  offsetUs ??= clockOffsetUs(hrtime)
  // On macOS the trace's clock stands still while the system sleeps.
  const offset = offsetUs - addon.cpuProfClockLead()
  const time = (/** @type {unknown} */ value) =>
    typeof value === 'number' ? Math.round(offset + value * 1e3) : value
  const name = `${label}`
  const data = {
    message: name,
    name,
    start: time(start),
    end: time(end),
    track,
    trackGroup,
    color,
  }
  return stringify({ cat: 'devtools.timeline', name: 'TimeStamp', ph: 'I', args: { data } })
}

module.exports = { eventOf }
