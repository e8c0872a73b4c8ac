'use strict'

// The errors of a wrong usage: the caller has to change what was given.

/** A value of a wrong kind, an unknown option, or words that mean nothing. */
class WrongUsage extends TypeError {}

/** A value of the right kind that is not among those that are allowed. */
class OutOfRange extends RangeError {}

/** Returns whether an error is one of a wrong usage. JavaScript throws a TypeError or RangeError of its own for a defect. @param {unknown} error */
function isWrongUsage(error) {
  return error instanceof WrongUsage || error instanceof OutOfRange
}

module.exports = { WrongUsage, OutOfRange, isWrongUsage }
