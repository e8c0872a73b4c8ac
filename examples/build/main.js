'use strict'

// A small build: the main thread finds words, two workers count primes, a child process sorts.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { Worker } = require('node:worker_threads')

function findWords() {
  const counts = new Map()
  for (let i = 0; i < 600_000; i++) {
    const word = ((i * 7919) % 4093).toString(36)
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]))
}

for (const from of [2, 400_000]) {
  new Worker(path.join(__dirname, 'count-primes.js'), { workerData: { from, to: from + 400_000 } })
}
spawn(process.execPath, [path.join(__dirname, 'sort.js'), '--rounds', '8'], { stdio: 'inherit' })
const words = findWords()
console.log(`the most frequent of ${words.length} words is ${words[0][0]}`)
