'use strict'

// Lists all programs.

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {string} version
 * @property {Record<string, string | object>} files of the project
 * @property {Record<string, string>} [packages] installed in the project: versions by name
 * @property {Record<string, string>} [tools] installed beside the project
 * @property {string[][]} [prepare] commands in the project before its first commit
 * @property {string[]} command
 * @property {Record<string, string>} [env]
 * @property {number} [code] the exit code; 0 by default
 * @property {RegExp} [prints] what must be in the output
 * @property {number} processes how many Node processes there are, at least
 * @property {RegExp} [notRecorded] the one process that Node itself keeps from being recorded
 * @property {import('./session.js').Steps} [steps] if the command ends with Ctrl-C only
 * @property {string[]} [stop] a command that ends daemons
 * @property {[RegExp, string][]} [varying] what changes in the output, and what stands for it
 * @property {boolean} [anyOrder] whether the order of the lines changes from run to run
 * @property {string} [remark]
 */

/** @type {Program[]} */
const PROGRAMS = [
  ...require('./package-managers.js').PROGRAMS,
  ...require('./task-runners.js').PROGRAMS,
  ...require('./watchers.js').PROGRAMS,
  ...require('./builders.js').PROGRAMS,
  ...require('./starters.js').PROGRAMS,
]

module.exports = { PROGRAMS }
