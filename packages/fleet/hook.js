'use strict'

// What the package adds to @org/cpu-prof.

module.exports = {
  /** The commands by name. */
  commands: {
    get lake() {
      return require('./commands/lake/index.js')
    },
    get push() {
      return require('./commands/push.js')
    },
  },

  /** Returns the lake that an option or the environment names. */
  get lakeOf() {
    return require('./base/lake-of.js').lakeOf
  },

  /** Adds a run to a lake at its end. */
  get afterRun() {
    return require('./after-run.js').addToLake
  },

  /** Returns the path of the library by which a recorded process sends its profiles. */
  get pushLibrary() {
    return require('./addon.js').pushLibrary
  },
}
