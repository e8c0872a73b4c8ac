'use strict'

// The tool `hotspots`: where the time of a run went.

const { formatPath, formatShare, formatTime } = require('@org/cpu-prof/own-packages').format
const { filters, run, top } = require('../inputs.js')
const { costLists, readRun, threadList } = require('../overview.js')

/** @type {import('@org/cpu-prof/own-packages').By[]} */
const BY = ['function', 'line', 'file', 'package', 'owner', 'label', 'script', 'import', 'thread']

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'hotspots',
  title: 'Where the time went',
  description:
    'Lists what a recorded run spent its time on, by function, line, file, npm package, owner (rule, ' +
    'plugin, loader or test for which work was done; focus with its name shows what it did), script (of ' +
    'npm, nx, turbo), label (requests), import (module load time) or thread. self: on top of the stack; total: with all that was called.',
  writes: false,
  input: (z) => ({
    run: run(z),
    by: z.enum(BY).optional().describe('Only this kind. Default: an overview of several.'),
    top: top(z),
    ...filters(z),
  }),
  async answer({ by, top, ...args }, { root }) {
    const { report, facts, head, notes } = await readRun(root, args, {
      imports: by === 'import',
      top: Math.max(top, 50),
    })
    /** @type {import('../answer.js').List[]} */
    const lists =
      by === 'import'
        ? [importList(report, root, top)]
        : by === 'thread'
          ? [threadList(report, root, top)]
          : costsBy(by, report, root, top)
    if (by === undefined) lists.push(threadList(report, root, Math.min(top, 6)))
    return { facts, head, lists, notes, more: 'a larger maxTokens or a filter shows more' }
  },
}

/**
 * Returns the tables of a kind. Functions by total time are without Node's own, which call everything.
 * @param {import('@org/cpu-prof/own-packages').By | undefined} by @param {import('../overview.js').Report} report
 * @param {import('../overview.js').Root} root @param {number} top
 */
function costsBy(by, report, root, top) {
  if (by !== 'function') return costLists(report, by, root, top)
  return costLists(report, undefined, root, top).filter(({ key }) => key.startsWith(by))
}

/**
 * @param {import('../overview.js').Report} report @param {import('../overview.js').Root} root @param {number} top
 * @returns {import('../answer.js').List}
 */
function importList({ imports = [] }, root, top) {
  const whole = imports.reduce((sum, { totalMs }) => sum + totalMs, 0)
  const all = listAll(imports).sort((a, b) => b.totalMs - a.totalMs)
  return {
    key: 'imports',
    title: `modules by load time, with what they load (% of ${formatTime(whole)})`,
    rows: all.slice(0, top).map(({ file, package: of, loadMs, runMs, totalMs }) => {
      const name = file === '' ? '(loader of ES modules)' : formatPath(file, root.folder)
      return {
        text: `${formatTime(totalMs)} ${formatShare(totalMs, whole)} (load ${formatTime(loadMs)}, run ${formatTime(runMs)})  ${name}`,
        data: { file: name, package: of, totalMs, loadMs, runMs },
      }
    }),
  }
}

/** @param {import('@org/cpu-prof').ReportImport[]} imports @returns {import('@org/cpu-prof').ReportImport[]} */
const listAll = (imports) => imports.flatMap((each) => [each, ...listAll(each.children)])
