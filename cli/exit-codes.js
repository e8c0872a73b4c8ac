'use strict'

// The exit codes of the command line.

module.exports = {
  /** Nothing could be read, written or printed. */
  FAILED: 1,
  WRONG_USAGE: 2,
  /** A rule of `compare --fail-on` was broken. */
  RULE_BROKEN: 3,
  /** As in a shell: the program was found, but cannot be executed. */
  CANNOT_EXECUTE: 126,
  /** As in a shell. */
  NOT_FOUND: 127,
  /** As in a shell: this, plus the number of the signal that ended the command. */
  SIGNAL: 128,
}
