'use strict'

// The versions of Node that the specs of recordings run on, the oldest first.

const fs = require('node:fs')
const path = require('node:path')
const { PACKAGE } = require('./files.js')

// The script runs the specs as soon as it is required.
const text = fs.readFileSync(path.join(PACKAGE, 'scripts', 'matrix.js'), 'utf8')
const [, list] = /^const VERSIONS = \[([\d, ]+)\]$/m.exec(text) ?? []
if (list === undefined) throw new Error('scripts/matrix.js has no VERSIONS')

module.exports = { VERSIONS: list.split(', ').map(Number) }
