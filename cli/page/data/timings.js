'use strict'

// Reads the marks and spans of a process.

/** @typedef {import('./recording.js').Process} Process */
/**
 * @typedef {object} Timing a span, or a mark, which has no length
 * @property {string} name
 * @property {string} track with its group
 * @property {number} from microseconds
 * @property {number} to
 * @property {string} [color] of DevTools
 * @property {import('./recording.js').Thread} [thread]
 */

/** @param {Process} process @param {string[]} texts that marks and spans name by their indices @returns {Timing[]} */
function timingsOf({ marks, spans, threads }, texts) {
  return [spans, marks].flatMap((list) =>
    (list?.startUs ?? []).map((from, index) => {
      const { name, track, group, color, thread, lengthUs } = /** @type {Lists} */ (list)
      const names = [group[index], track[index]].filter((text) => text >= 0)
      return {
        name: texts[name[index]],
        track: names.map((text) => texts[text]).join(' · ') || 'timings',
        from,
        to: from + (lengthUs?.[index] ?? 0),
        thread: threads[thread[index]],
        color: color[index] ?? undefined,
      }
    }),
  )
}

/**
 * @typedef {object} Lists of the page's data, an entry for each mark or span
 * @property {number[]} startUs
 * @property {number[]} [lengthUs]
 * @property {number[]} thread index among the threads of the process
 * @property {number[]} name index of a text
 * @property {number[]} track index of a text, or -1
 * @property {number[]} group index of a text, or -1
 * @property {(string | null)[]} color
 */

module.exports = { timingsOf }
