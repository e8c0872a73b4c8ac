'use strict'

// Loads the addon of this package, and finds its file.

const path = require('node:path')
const { UNUSABLE, VERSION, loadTools, targetName } = require('@org/cpu-prof/own-packages').addon
const { fileOf, search } = require('@org/cpu-prof/own-packages').searchAddon
const manifest = require('./package.json')

const WANTED = {
  name: 'cpu-prof-fleet',
  target: targetName(),
  version: VERSION,
  code: UNUSABLE,
  owner: { manifest, folder: __dirname, require },
}

/** @typedef {import('./addon-types.d.ts').Fleet} Fleet */

/** @type {Fleet | undefined} */
let addon

/** Returns the addon. Node loads the file on the first call only. @returns {Fleet} */
function loadFleet() {
  // The command line ends its process by functions of that addon.
  loadTools()
  addon ??= /** @type {Fleet} */ (search(WANTED))
  return addon
}

/** Returns the path of the addon, which the recorder loads to send profiles. Throws if there is none. */
function pushLibrary() {
  const file = fileOf(WANTED)
  if (file === undefined) search(WANTED)
  return path.resolve(String(file))
}

module.exports = { loadFleet, pushLibrary }
