'use strict'

// Lets the cores of this machine stand still again and again, as a loaded host of virtual machines does:
// `node scripts/stand-still.js [share of the time, %] [seed] & npm test`. Needs root, taskset and chrt.

const { spawn } = require('node:child_process')
const os = require('node:os')

const [share = '10', seed = String(Date.now() % 1e6)] = process.argv.slice(2)

/** Times for which a core stands still, milliseconds. */
const [SHORTEST_MS, LONGEST_MS] = [5, 400]

/** Keeps a core from all processes without a real-time priority. */
const STOPPER = `
  let seed = ${Number(seed)} + Number(process.argv[1])
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (;;) {
    const ms = ${SHORTEST_MS} + random() * ${LONGEST_MS - SHORTEST_MS}
    Atomics.wait(cell, 0, 0, 2 * random() * ms * (100 / ${Number(share)} - 1))
    for (const end = performance.now() + ms; performance.now() < end; );
    if (process.ppid === 1) process.exit()
  }`

console.error(`cores stand still for ${share} % of the time, seed ${seed}; Ctrl-C ends it`)
for (const [core] of os.cpus().entries()) {
  const command = ['-c', String(core), 'chrt', '-f', '50', process.execPath, '-e', STOPPER]
  const stopper = spawn('taskset', [...command, String(core + 1)], { stdio: 'inherit' })
  stopper.on('error', (error) => console.error(`taskset cannot be run: ${error.message}`))
}
