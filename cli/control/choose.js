'use strict'

// Finds the processes that the words of a command line mean.

const path = require('node:path')
const { isBelow } = require('./tree.js')

/** @typedef {import('./processes.js').Armed} Armed */
/** @typedef {import('./refusal.js').Refusal} Refusal */
/**
 * What is known about this machine's processes.
 * @typedef {object} World
 * @property {Armed[]} armed
 * @property {number} self the id of this process
 * @property {import('./tree.js').Parents} parents
 * @property {(pid: number) => Refusal} explain says why a process cannot be controlled
 */
/**
 * @typedef {object} Choice
 * @property {Armed[]} chosen
 * @property {Refusal[]} refused words that name no process that can be controlled
 * @property {Refusal[]} left Node processes below a chosen one that are not armed
 * @property {Armed[]} below armed processes below a chosen one that were not asked for
 */

/**
 * Finds the processes that words mean: process ids, or texts in the label, the package or the script of
 * one armed process.
 * @param {string[]} words @param {{ all?: boolean, tree?: boolean }} options @param {World} world
 * @returns {Choice}
 */
function choose(words, { all, tree }, world) {
  const { armed } = world
  const chosen = new Set(all ? armed.filter(({ pid }) => !isOwn(pid, world)) : [])
  /** @type {Refusal[]} */
  const refused = []
  /** @type {Map<number, Refusal>} */
  const left = new Map()
  for (const word of words) {
    const isPid = /^\d+$/.test(word)
    const { roots, problem } = isPid
      ? { roots: [Number(word)], problem: '' }
      : byText(word, world, tree)
    if (problem) refused.push({ text: problem })
    for (const root of roots) {
      const found = armed.filter(({ pid }) => pid === root || (tree && isMeant(pid, root, world)))
      for (const one of found) chosen.add(one)
      const missing = tree ? unarmed(root, world) : []
      if (found.length > 0) for (const one of missing) left.set(Number(one.pid), one)
      else refused.push(...(missing.length > 0 ? missing : [world.explain(root)]))
    }
  }
  const below = armed.filter(
    (one) => !chosen.has(one) && [...chosen].some(({ pid }) => isMeant(one.pid, pid, world)),
  )
  return { chosen: [...chosen], refused, left: [...left.values()], below }
}

/**
 * Returns the process that a text means.
 * @param {string} word @param {World} world @param {boolean} [tree]
 */
function byText(word, world, tree) {
  const found = withText(word, world, tree)
  if (found.length === 1) return { roots: [found[0].pid], problem: '' }
  const problem = found.length === 0 ? noneText(word, world) : severalText(word, world, found, tree)
  return { roots: [], problem }
}

/**
 * Returns the processes with a text. In a tree, those below the one that is meant may have the text too.
 * @param {string} word @param {Pick<World, 'armed' | 'parents'>} world @param {boolean} [tree]
 */
function withText(word, { armed, parents }, tree) {
  const all = armed.filter((one) => hasText(one, word))
  if (!tree) return all
  return all.filter(({ pid }) => !all.some((other) => isBelow(pid, other.pid, parents)))
}

/** Says that no process has a text. @param {string} word @param {World} world */
function noneText(word, { armed }) {
  const silent = armed.filter(({ status }) => status === undefined).map(({ pid }) => pid)
  const reason = silent.length === 0 ? '' : ` (no answer from ${silent.join(', ')})`
  return `no armed process has '${word}' in its label, package or script${reason}; cpu-prof ps lists them, and one that is not armed is named by its pid`
}

/**
 * Says that a text means several processes.
 * @param {string} word @param {Pick<World, 'armed' | 'parents'>} world @param {Armed[]} found
 * @param {boolean} [tree]
 */
function severalText(word, world, found, tree) {
  const list = found.map(({ pid, status }) => `${pid} (${status?.label})`).join(', ')
  const isOneTree = !tree && withText(word, world, true).length === 1
  const orAll = isOneTree ? ', or take all with --tree' : ''
  return `'${word}' means several processes, name one by its pid${orAll}: ${list}`
}

/** @param {Armed} armed @param {string} word */
function hasText({ status, packageName = '' }, word) {
  const texts = [status?.label ?? '', packageName, status?.script ?? '']
  return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()))
}

/** Returns the Node processes of a tree that are not armed. @param {number} root @param {World} world */
function unarmed(root, world) {
  return [...new Set([root, ...world.parents.keys()])]
    .filter((pid) => (pid === root ? !isOwn(pid, world) : isMeant(pid, root, world)))
    .filter((pid) => !world.armed.some((one) => one.pid === pid))
    .map(world.explain)
    .filter(({ pid }) => pid !== undefined)
}

/** Returns whether a process is below another one, and meant with it. @param {number} pid @param {number} root @param {World} world */
function isMeant(pid, root, world) {
  return isBelow(pid, root, world.parents) && !isOwn(pid, world)
}

/** Returns whether a process is this command, or runs it, as npx does. @param {number} pid @param {World} world */
function isOwn(pid, { self, parents }) {
  return pid === self || isBelow(self, pid, parents)
}

/** Returns the name of a process for people. @param {Armed} armed */
function nameOf({ pid, status }) {
  const label = status?.label || path.basename(status?.script ?? '')
  return label === '' ? `pid ${pid}` : `pid ${pid} (${label})`
}

module.exports = { choose, nameOf, severalText, withText }
