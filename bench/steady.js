'use strict'

// Simulates a busy server: hundreds of call paths again and again, garbage, short idle gaps.

const end = Date.now() + Number(process.argv[2]) * 60_000
const functions = Array.from({ length: 300 }, (_, i) => generate(i))
let seed = 0

/** @param {number} i @returns {(n: number, next: (n: number) => number) => number} */
function generate(i) {
  return /** @type {any} */ (new Function('n', 'next', `return n <= 0 ? ${i} : next(n - 1) + ${i}`))
}

/** @param {number} n @returns {number} */
function descend(n) {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return functions[seed % functions.length](n, descend)
}

function turn() {
  const stop = Date.now() + 40
  for (let path = 0; Date.now() < stop; path = (path + 1) % 500) {
    for (let i = 0; i < 20; i++) {
      seed = path
      descend(20)
    }
    JSON.parse(JSON.stringify(Array.from({ length: 50 }, (_, i) => ({ i, text: `row ${i}` }))))
  }
  if (Date.now() < end) setTimeout(turn, 5)
}

turn()
