'use strict'

// Recordings of one program on Windows, on macOS and on Linux, as each system names its files.

const path = require('node:path')
const { writeTrace } = require('./written.js')

/** @typedef {import('./written.js').Span} Span */

/**
 * @typedef {object} System
 * @property {string} cwd the working directory, as Node gives it
 * @property {string} root the same, as reports show it
 * @property {string} node the path of Node's program
 */

/** @type {Record<string, System>} */
const SYSTEMS = {
  Windows: {
    cwd: 'C:\\Users\\Zoë\\my repo',
    root: 'C:/Users/Zoë/my repo',
    node: 'C:\\Program Files\\nodejs\\node.exe',
  },
  // Editors start programs with a small letter.
  'Windows, by a small drive letter': {
    cwd: 'c:\\Users\\Zoë\\my repo',
    root: 'C:/Users/Zoë/my repo',
    node: 'C:\\Program Files\\nodejs\\node.exe',
  },
  'a share of Windows': {
    cwd: '\\\\server\\share\\repo',
    root: '//server/share/repo',
    node: 'C:\\Program Files\\nodejs\\node.exe',
  },
  macOS: {
    cwd: '/Users/zoë/my repo',
    root: '/Users/zoë/my repo',
    node: '/opt/homebrew/bin/node',
  },
  Linux: { cwd: '/home/zoë/my repo', root: '/home/zoë/my repo', node: '/usr/bin/node' },
}

/** Own code 60 ms, packages 40 ms, Node 10 ms. @type {Span[]} */
const SPANS = [
  ['main src/main.js:1 > parse src/parse.js:5@7', 60],
  ['main src/main.js:1 > chunk node_modules/lodash/chunk.js:3', 20],
  ['main src/main.js:1 > transform node_modules/@babel/core/lib/index.js:9', 15],
  [
    'main src/main.js:1 > handler node_modules/vite/dist/node/chunks/node.js:8 > load node_modules/vite-plugin-svgr/dist/index.js:9',
    5,
  ],
  ['main src/main.js:1 > readFileSync node:fs:400:20', 10],
]

/**
 * Writes the recording of the program on a system: one process that npm starts, with arguments below
 * its folder. Returns the folder of the files.
 * @param {System} system @param {string} folder @param {{ spans?: Span[], pid?: number }} [options]
 */
function writeProgram({ cwd, node }, folder, { spans = SPANS } = {}) {
  const npm = { pid: 7, label: 'npm-cli', argv: ['run', 'build'], spans: [['(idle)', 5]] }
  writeTrace(path.join(folder, 'npm.trace.json'), {
    .../** @type {{ spans: Span[] } & typeof npm} */ (npm),
    cwd,
    processStartMs: 4,
  })
  writeTrace(path.join(folder, 'main.trace.json'), {
    pid: 8,
    ppid: 7,
    ancestors: [7],
    label: 'main.js',
    cwd,
    spans,
    processStartMs: 6,
    recordingLabel: `from ${node}`,
  })
  return folder
}

module.exports = { SYSTEMS, SPANS, writeProgram }
