'use strict'

// Tells once a second for how long its core stood still: `<moment, ms> <longest, ms>` a line. It ends
// with the process that reads the lines.

const fs = require('node:fs')
const os = require('node:os')

const SLEEP_MS = 10
const LINE_MS = 1000

try {
  // Load alone then hardly delays this process.
  os.setPriority(os.constants.priority.PRIORITY_HIGHEST)
} catch {
  // Without the right, the figures contain the wait for a core.
}

const cell = new Int32Array(new SharedArrayBuffer(4))
let [last, line, longest] = [Date.now(), Date.now(), 0]
for (;;) {
  Atomics.wait(cell, 0, 0, SLEEP_MS)
  const now = Date.now()
  longest = Math.max(longest, now - last - SLEEP_MS)
  last = now
  if (now - line < LINE_MS) continue
  try {
    fs.writeSync(1, `${now} ${longest}\n`)
  } catch {
    process.exit()
  }
  ;[line, longest] = [now, 0]
}
