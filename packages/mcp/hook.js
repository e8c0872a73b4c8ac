'use strict'

// What the package adds to @org/cpu-prof.

module.exports = {
  /** The commands by name. */
  commands: {
    get mcp() {
      return require('./command.js')
    },
  },
}
