'use strict'

// Events beside a profile, as cpu-prof writes them. Times are milliseconds after the start of a recording
// that starts at START.

const START = 1e9

/** Returns the two events of a measure. @param {string} name @param {number} from @param {number} to */
function measure(name, from, to) {
  const event = (/** @type {string} */ ph, /** @type {number} */ ms) => ({
    cat: 'blink.user_timing',
    name,
    ph,
    ts: START + 1000 * ms,
    args: {},
    id2: { local: `${name} ${from}` },
  })
  return [event('b', from), event('e', to)]
}

/** Returns what the recorder writes of TypeScript's compiler. @param {number} from @param {number} to @param {object} what */
function compiled(from, to, what) {
  const [startUs, endUs] = [from, to].map((ms) => START + 1000 * ms)
  const data = { message: 'x', name: 'x', start: startUs, end: endUs, track: 'TypeScript' }
  const args = { data: { ...data, typescript: { startUs, endUs, ...what } } }
  return { cat: 'devtools.timeline', name: 'TimeStamp', ph: 'I', s: 't', ts: endUs, args }
}

module.exports = { START, measure, compiled }
