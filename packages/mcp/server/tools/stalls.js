'use strict'

// The tool `stalls`: when event loops stood still.

const { formatPlace, formatTime } = require('@org/cpu-prof/own-packages').format
const { BUILT_IN } = require('@org/cpu-prof/own-packages').tables
const { filters, run, top } = require('../inputs.js')
const { readRun } = require('../overview.js')

/** Functions of a stall that are named: the innermost tell most. */
const FRAMES = 4

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'stalls',
  title: 'Stalls of event loops',
  description:
    'Lists the longest times in which a thread did not come back to its event loop, with the functions ' +
    'that ran for most of that time. For servers and user interfaces that freeze.',
  writes: false,
  input: (z) => ({
    run: run(z),
    leastMs: z.number().min(1).default(50).describe('Shortest stall, ms.'),
    top: top(z),
    ...filters(z, ['process', 'thread', 'label']),
  }),
  async answer({ leastMs, top, ...args }, { root }) {
    const { report, facts, head, notes } = await readRun(root, args, { stalls: leastMs, top })
    const stalls = report.stalls ?? []
    return {
      facts: { run: facts.run, sentence: facts.sentence },
      head: [...head.slice(0, 1), stalls.length === 0 ? `no stall of ${leastMs} ms or more` : ''],
      lists: [
        {
          key: 'stalls',
          title: 'stalls, the longest first: when, how long, the innermost function first',
          rows: stalls.map((stall) => rowOf(stall, root)),
        },
      ],
      notes,
      more: 'a larger maxTokens shows more',
    }
  },
}

/** @param {import('@org/cpu-prof').ReportStall} stall @param {import('../overview.js').Root} root */
function rowOf({ process, pid, thread, startMs, durationMs, stack }, root) {
  const code = stack.filter((frame) => !BUILT_IN.has(frame.package))
  const frames = (code.length > 0 ? code : stack)
    .slice(-FRAMES)
    .reverse()
    .map((frame) => `${frame.name} ${formatPlace(frame, root.folder)}`)
  return {
    text: `at ${formatTime(startMs)} for ${formatTime(durationMs)} in ${process} (${pid}) ${thread}: ${frames.join(' ← ')}`,
    data: { process, pid, thread, startMs, durationMs, stack: frames },
  }
}
