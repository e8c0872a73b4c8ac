'use strict'

// Tells the addon the current label set where it cannot read the asynchronous context itself.

// Node calls hooks before and after each callback, which makes programs with many promises slower. So the
// hooks are on only while the thread is recorded.

const { createHook } = require('node:async_hooks')

/**
 * @typedef {object} ContextHooks
 * @property {<T>(id: number, fn: () => T) => T} run calls a function with a label set
 * @property {(id: number) => void} set sets the label set of the current context
 */

/**
 * Lets the addon see the label sets in a storage.
 * @param {import('../addon.js').Recorder} addon @param {import('node:async_hooks').AsyncLocalStorage<any>} storage
 * @returns {ContextHooks}
 */
function watch(addon, storage) {
  // With a buffer of its own, the array has a fixed place in memory.
  const cell = new Int32Array(new ArrayBuffer(4))
  addon.labelCell = cell
  /** Label sets of the callbacks around the current one. @type {number[]} */
  let outer = []
  const hook = createHook({
    before() {
      outer.push(cell[0])
      cell[0] = storage.getStore() ?? 0
    },
    after() {
      cell[0] = outer.pop() ?? 0
    },
  })
  let isOn = false

  /** Turns the hooks on and off with the recording, which can start in any way. */
  const follow = () => {
    const isRecording = addon.cpuProfIsRecording()
    if (isRecording === isOn) return
    isOn = isRecording
    outer = []
    cell[0] = 0
    if (isOn) hook.enable()
    else hook.disable()
  }

  addon.cpuProfUseCell(cell)
  return {
    run(id, fn) {
      follow()
      if (!isOn) return storage.run(id, fn)
      const before = cell[0]
      cell[0] = id
      try {
        return storage.run(id, fn)
      } finally {
        cell[0] = before
      }
    },
    set(id) {
      follow()
      if (isOn) cell[0] = id
    },
  }
}

module.exports = { watch }
