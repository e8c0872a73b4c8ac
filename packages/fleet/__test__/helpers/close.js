'use strict'

/** Part of a value by which two engines may differ: they add floating-point numbers in other orders. */
const CLOSE = 1e-9

/** @param {unknown} one @param {unknown} other */
function isClose(one, other) {
  const [a, b] = [Number(one), Number(other)]
  return Math.abs(a - b) <= CLOSE * Math.max(Math.abs(a), Math.abs(b), 1)
}

module.exports = { isClose }
