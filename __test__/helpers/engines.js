'use strict'

// The engines of `npm run test:fleet`, for the specs that compare with them.

const fs = require('node:fs')
const { ENGINES } = require('../../scripts/fleet/engines.js')

/** Returns the reason to skip a spec whose engine is not there; false if it is. @param {string} name */
function missing(name) {
  return (
    !fs.existsSync(ENGINES[name].file) && `the engine ${name}: \`npm run test:fleet\` fetches it`
  )
}

module.exports = { ENGINES, missing }
