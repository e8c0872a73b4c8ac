'use strict'

// The tool `code`: the source of the hottest lines.

const { codeOf } = require('../code.js')
const { filters, run } = require('../inputs.js')
const { readRun } = require('../overview.js')

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'code',
  title: 'Code of the hottest lines',
  description:
    'Shows the source of the functions with the hottest lines, each line with its self time. Only code ' +
    'in files of the project is read, and only if it is still the code that was recorded. focus ' +
    'chooses the function or file.',
  writes: false,
  input: (z) => ({
    run: run(z),
    count: z.number().int().min(1).max(20).default(5).describe('Functions to show.'),
    ...filters(z, ['process', 'thread', 'focus', 'label', 'from', 'to']),
  }),
  async answer({ count, ...args }, { root }) {
    const { report, facts, head, notes } = await readRun(root, args, { top: 200 })
    const { lists, refusals } = codeOf(report, count, root)
    const { run, sentence } = facts
    return {
      facts: { run, sentence },
      head: [
        ...head.slice(0, 1),
        ...(lists.length === 0 ? ['no code of the project was sampled'] : []),
      ],
      lists,
      notes: [...refusals, ...notes],
      more: 'a larger maxTokens, a smaller count or focus shows more',
    }
  },
}
