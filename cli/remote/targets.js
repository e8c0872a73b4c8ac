'use strict'

// Finds the processes that a command controls, and says which it cannot reach.

const { WRONG_USAGE } = require('../exit-codes.js')
const { choose } = require('../control/choose.js')
const { listArmed } = require('../control/processes.js')
const { explain } = require('../control/refusal.js')
const { readParents } = require('../control/tree.js')
const { IS_WINDOWS } = require('../system/index.js')
const { fail, printStatus } = require('../terminal/output.js')
const { formatCount } = require('../terminal/units.js')

/** @typedef {import('../control/processes.js').Armed} Armed */
/**
 * @typedef {object} Options
 * @property {boolean} [all] whether all armed processes are meant
 * @property {boolean} [tree] whether the processes below are meant too
 * @property {boolean} [inspector] whether processes that are not armed may be armed
 */

/** A variable of cmd.exe has no quotes around its value. */
const PRELOAD = IS_WINDOWS ? '--require @org/cpu-prof' : "'--require @org/cpu-prof'"
const HOW_TO_ARM = `to arm a program, start it with CPU_PROF_START=off and NODE_OPTIONS=${PRELOAD}`

/**
 * Returns the processes that words mean. Says why others are left out, which sets the exit code.
 * @param {string[]} words @param {Options} options
 * @param {boolean} [canArm] whether the command arms processes that are not armed
 * @returns {Promise<Armed[]>}
 */
async function findTargets(words, { all, tree, inspector }, canArm = false) {
  if (words.length === 0 && !all) {
    fail('name processes by pid or text, or use --all; cpu-prof ps lists them', WRONG_USAGE)
    return []
  }
  const look = async () => {
    const world = { armed: await listArmed(), parents: readParents(), self: process.pid, explain }
    return choose(words, { all, tree }, world)
  }
  let found = await look()
  const unarmed = [...found.refused, ...(inspector ? found.left : [])].flatMap(
    ({ pid }) => pid ?? [],
  )
  if (canArm && unarmed.length > 0) {
    const { arm, tellPlan } = require('../attach/attach.js')
    for (const pid of unarmed) inspector ? await arm(pid) : tellPlan(pid)
    if (inspector) found = await look()
  }
  if (all && found.chosen.length === 0) fail(`no process is armed; ${HOW_TO_ARM}`)
  for (const { text, pid } of found.refused) {
    if (pid === undefined) fail(text)
    else if (!canArm) fail(`${text}; ${HOW_TO_ARM}`)
  }
  if (!inspector) for (const { text } of found.left) printStatus(`${text}, and is left out`)
  if (canArm && found.below.length > 0) {
    const below = formatCount(found.below.length, 'armed process', 'armed processes')
    printStatus(`left out: ${below} below; --tree includes them`)
  }
  return found.chosen
}

module.exports = { findTargets, HOW_TO_ARM }
