'use strict'

// Random numbers that a failed spec can repeat.

/**
 * Returns a function like Math.random, and prints its seed. SPEC_SEED in the environment sets the seed.
 * @param {{ diagnostic(message: string): void }} t the context of the test
 */
function seededRandom(t) {
  const seed = Number(process.env.SPEC_SEED ?? Math.floor(Math.random() * 2 ** 32))
  t.diagnostic(`seed: ${seed} (SPEC_SEED=${seed} repeats it)`)
  return mulberry32(seed)
}

/** Returns a generator of numbers from 0 on and below 1. @param {number} state @returns {() => number} */
function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

module.exports = { seededRandom, mulberry32 }
