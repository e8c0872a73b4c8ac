'use strict'

const { createHash } = require('node:crypto')
const { parentPort } = require('node:worker_threads')

/** Hashes a hash again and again. @param {number} rounds */
function hashChain(rounds) {
  let hash = 'start'
  for (let round = 0; round < rounds; round++) {
    hash = createHash('sha256').update(hash).digest('hex')
  }
  return hash
}

parentPort?.on('message', (rounds) => {
  if (rounds === null) parentPort?.close()
  else parentPort?.postMessage(hashChain(rounds))
})
