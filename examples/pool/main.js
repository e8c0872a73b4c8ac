'use strict'

// A pool of workers that take jobs from a queue.

const path = require('node:path')
const { Worker } = require('node:worker_threads')

const WORKERS = 3
const jobs = Array.from({ length: 12 }, (_, i) => 20_000 + 5000 * i)
/** @type {number[]} */
const results = []

/** @param {Worker} worker */
function next(worker) {
  const job = jobs.shift()
  worker.postMessage(job ?? null)
}

for (let i = 0; i < WORKERS; i++) {
  const worker = new Worker(path.join(__dirname, 'hasher.js'))
  worker.on('message', (result) => {
    results.push(result)
    next(worker)
  })
  next(worker)
}
process.on('exit', () => console.log(`${results.length} jobs done by ${WORKERS} workers`))
