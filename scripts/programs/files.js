'use strict'

// Files that several projects have.

/** Works for a moment in its own process and in a child, and ends with an exit code. */
const TASK = `
const { spawnSync } = require('node:child_process')
const [name = 'task', code = '0'] = process.argv.slice(2)
function work() {
  const end = Date.now() + 150
  while (Date.now() < end) Math.random()
}
work()
if (name !== 'child') {
  const { status, stderr } = spawnSync(process.execPath, [__filename, 'child'], { encoding: 'utf8' })
  console.log(name + ' done, child ' + status + stderr)
}
process.exitCode = Number(code)
`

/** Prints a line at each start, and runs until a signal. */
const SERVER = `
const { value } = require('./value.js')
require('node:http').createServer().listen(0, '127.0.0.1', () => console.log('started', value))
`

/** The package.json of a project's root. */
const ROOT_PACKAGE = { name: 'root', version: '1.0.0', private: true }

const VALUE = 'exports.value = 1\n'

/** Returns the files of a workspace with packages that each build. @param {string[]} names */
function workspace(names) {
  const entries = names.map((name) => [
    `packages/${name}/package.json`,
    { name, version: '1.0.0', private: true, scripts: { build: `node ../../task.js ${name}` } },
  ])
  return { 'task.js': TASK, ...Object.fromEntries(entries) }
}

module.exports = { ROOT_PACKAGE, TASK, SERVER, VALUE, workspace }
