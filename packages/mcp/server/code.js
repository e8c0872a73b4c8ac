'use strict'

// Shows the code of the hottest lines, as far as it is in files of the project.

const { formatTime } = require('@org/cpu-prof/own-packages').format
const { excerptLines, excerptsOf } = require('@org/cpu-prof/own-packages').code

/**
 * Returns a list for each excerpt, and why others are missing.
 * @param {import('./overview.js').Report} report with the wanted lines @param {number} count of functions
 * @param {import('./overview.js').Root} root
 */
function codeOf(report, count, { folder }) {
  const { excerpts, refusals } = excerptsOf(report, count, folder, folder)
  return {
    refusals,
    lists: excerpts.map((excerpt) => {
      const { name, place, selfMs } = excerpt
      return {
        key: 'code',
        title: `${name}  ${place}  (${formatTime(selfMs)} self; time, line, code)`,
        of: { name, place, selfMs },
        rows: excerptLines(excerpt).map((line) => ({ text: line, data: line })),
      }
    }),
  }
}

module.exports = { codeOf }
