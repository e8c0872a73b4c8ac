'use strict'

// Gives the recorder the library by which a process sends its own profiles.

/**
 * Gives the recorder the path of the library, or why there is none, which the recorder says when it needs the
 * library. Never throws.
 * @param {import('../addon.js').Recorder} addon
 */
function givePushLibrary(addon) {
  try {
    addon.cpuProfPushLibrary(...findLibrary())
  } catch {
    // An earlier preload has patched what this needs.
  }
}

/** Returns the path of the library and an empty text, or null and what to do. @returns {[string | null, string]} */
function findLibrary() {
  try {
    return [require('../packages.js').loadHook('fleet').pushLibrary(), '']
  } catch (error) {
    const { message } = /** @type {Error} */ (error)
    return [null, message.replace(/^cpu-prof: /, '').split('\n', 1)[0]]
  }
}

module.exports = { givePushLibrary }
