'use strict'

// The program of the smoke suite. Its function `planted` must be what each recording shows.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const [, , mode = 'work', ...args] = process.argv

/** Works for a time. @param {number} ms */
function planted(ms) {
  let sum = 0
  for (const end = Date.now() + ms; Date.now() < end; ) {
    for (let i = 0; i < 20_000; i++) sum += Math.sqrt(i)
  }
  return sum
}

/** Works in the main thread, a worker and a child, and exits with 7. @param {number} ms @param {string} node runs the child */
function all(ms, node) {
  const worker = new Worker(__filename, { workerData: ms })
  planted(ms)
  worker.on('exit', () => {
    // Short, since the time of waiting for the child is work where the system does not tell waits.
    const { status } = spawnSync(node, [__filename, 'work', String(ms / 3)], { stdio: 'inherit' })
    process.exit(status === 0 ? 7 : 1)
  })
}

/** Removes the recording in the middle of the work. @param {number} ms @param {string} dir */
function remove(ms, dir) {
  planted(ms)
  for (const name of fs.readdirSync(dir)) fs.rmSync(path.join(dir, name))
  planted(ms)
}

/** Records a part, and prints the files. @param {number} ms @param {string} dir */
function api(ms, dir) {
  // Found from the working directory: the package is installed in the project, not beside this file.
  const { start, stop } = require(require.resolve('@org/cpu-prof', { paths: [process.cwd()] }))
  start({ dir, workers: false })
  planted(ms)
  console.log(JSON.stringify(stop().files.map((/** @type {string} */ file) => path.basename(file))))
}

/** Works, a little at a time, until the parent is gone. */
function controlled() {
  process.once('disconnect', () => process.exit())
  setInterval(() => planted(50))
  process.send?.('ready')
}

/** Works in V8 and in OpenSSL, and as long again in the pool alone: an emulator is slow to list the memory. @param {number} ms */
function native(ms) {
  const { createHash, pbkdf2 } = require('node:crypto')
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` })))
  const poolEnd = Date.now() + 4 * ms
  const derive = () => {
    if (Date.now() < poolEnd) pbkdf2('a', 'b', 50_000, 64, 'sha512', derive)
  }
  for (let count = 0; count < 2; count++) derive()
  const parse = () => JSON.parse(text)
  const hash = () => createHash('sha512').update(text).digest()
  for (const work of [parse, hash]) {
    for (const end = Date.now() + ms; Date.now() < end; ) work()
  }
}

if (!isMainThread) {
  planted(workerData)
} else if (mode === 'all') {
  all(Number(args[0]), args[1] || process.execPath)
} else if (mode === 'words') {
  console.log(JSON.stringify(args))
} else if (mode === 'remove') {
  remove(Number(args[0]), args[1])
} else if (mode === 'api') {
  api(Number(args[0]), args[1])
} else if (mode === 'native') {
  native(Number(args[0]))
} else if (mode === 'controlled') {
  controlled()
} else {
  // Another process sends the signal, at any moment from now on.
  if (mode === 'terminate') spawnSync('sh', ['-c', `kill ${process.pid} &`])
  planted(Number(args[0]))
  if (mode === 'kill') process.kill(process.pid, 'SIGKILL')
  if (mode === 'code') process.exitCode = 5
  // The code of an access violation.
  if (mode === 'crash') process.exit(0xc0000005)
}
