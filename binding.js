'use strict'

const platform = {
  'linux-x64': 'linux-x64-gnu',
}[`${process.platform}-${process.arch}`]

/** Loads the addon: the one built here from source, or else the platform's own package. */
function load() {
  if (platform === undefined) {
    throw new Error(`there is no addon for ${process.platform}-${process.arch}`)
  }
  try {
    return require(`./cpu-prof.${platform}.node`)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    return require(`@org/cpu-prof-${platform}`)
  }
}

module.exports = load()
