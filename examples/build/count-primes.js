'use strict'

const { workerData } = require('node:worker_threads')

/** @param {number} n */
function isPrime(n) {
  for (let divisor = 2; divisor * divisor <= n; divisor++) {
    if (n % divisor === 0) return false
  }
  return n > 1
}

/** @param {{from: number, to: number}} range */
function countPrimes({ from, to }) {
  let count = 0
  for (let n = from; n < to; n++) if (isPrime(n)) count++
  return count
}

console.log(`${countPrimes(workerData)} primes from ${workerData.from} to ${workerData.to}`)
