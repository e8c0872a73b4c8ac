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
  return { chosen: [...chosen], refused, left: [...left.values()] }
}

/**
 * Returns the process that a text means. In a tree, the processes below the one that is meant may have
 * the text too.
 * @param {string} word @param {World} world @param {boolean} [tree]
 */
function byText(word, { armed, parents }, tree) {
  const all = armed.filter((one) => hasText(one, word))
  const found = tree
    ? all.filter(({ pid }) => !all.some((other) => isBelow(pid, other.pid, parents)))
    : all
  if (found.length === 1) return { roots: [found[0].pid], problem: '' }
  if (found.length === 0) {
    const problem = `no armed process has '${word}' in its label, package or script; cpu-prof ps lists them, and one that is not armed is named by its pid`
    return { roots: [], problem }
  }
  const list = found.map(({ pid, status }) => `${pid} (${status?.label})`).join(', ')
  return { roots: [], problem: `'${word}' means several processes, name one by its pid: ${list}` }
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

module.exports = { choose, nameOf }
