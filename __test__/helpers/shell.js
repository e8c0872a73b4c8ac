'use strict'

const { spawnSync } = require('node:child_process')

/** The reason to skip a spec that needs bash; false where there is one. */
const NEEDS_BASH = spawnSync('bash', ['-c', '']).status !== 0 && 'there is no bash'

module.exports = { NEEDS_BASH }
