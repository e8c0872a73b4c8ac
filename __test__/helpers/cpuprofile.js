'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')

/**
 * Reads and checks a .cpuprofile. In this profiler's files all sums must agree too; in the files of
 * Node's `--cpu-prof` they do not.
 * @param {string} file
 * @param {{ isOurs?: boolean }} [options]
 */
function readCpuProfile(file, { isOurs = true } = {}) {
  const profile = JSON.parse(fs.readFileSync(file, 'utf8'))
  /** @type {Map<number, any>} */
  const nodes = new Map(profile.nodes.map((/** @type {any} */ node) => [node.id, node]))
  const parents = new Map()
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) {
      assert.ok(nodes.has(child), `node ${id} has an unknown child ${child}`)
      assert.ok(!parents.has(child), `node ${child} has two parents`)
      parents.set(child, id)
    }
  }
  assert.equal(profile.nodes[0].callFrame.functionName, '(root)')
  assert.equal(parents.size, nodes.size - 1)
  assert.equal(profile.samples.length, profile.timeDeltas.length)
  for (const sample of profile.samples) assert.ok(nodes.has(sample))
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0)
  const lastUs = profile.startTime + sum(profile.timeDeltas)
  if (isOurs) {
    assert.ok(lastUs <= profile.endTime)
    assert.equal(sum([...nodes.values()].map((node) => node.hitCount)), profile.samples.length)
    for (const { hitCount, positionTicks = [] } of nodes.values()) {
      assert.ok(sum(positionTicks.map((/** @type {any} */ at) => at.ticks)) <= hitCount)
    }
  }
  /** Returns the milliseconds with a function of this name on the stack. @param {string} name */
  const totalMs = (name) => {
    const isUnder = (/** @type {number} */ sample) => {
      for (let id = sample; id !== undefined; id = parents.get(id)) {
        if (nodes.get(id).callFrame.functionName === name) return true
      }
      return false
    }
    const us = profile.timeDeltas.filter((/** @type {number} */ _, /** @type {number} */ i) =>
      isUnder(profile.samples[i]),
    )
    return sum(us) / 1000
  }
  return { ...profile, lastUs, byId: nodes, totalMs }
}

module.exports = { readCpuProfile }
