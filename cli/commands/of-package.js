'use strict'

// The commands of our other packages.

const { loadHook, nameOf } = require('../../lib/packages.js')

/**
 * Returns a command that another package has. The package is loaded only when the command is asked for. Without
 * the package the command says what to install.
 * @param {string} command @param {string} name the short name of the package
 */
function ofPackage(command, name) {
  /** @param {import('commander').Command} program @param {(command: string) => boolean} isAsked */
  const define = (program, isAsked) => {
    /** @type {unknown} */
    let problem
    if (isAsked(command)) {
      try {
        return loadHook(name).commands[command].define(program)
      } catch (error) {
        problem = error
      }
    }
    program
      .command(command)
      .summary(`needs the package ${nameOf(name)}`)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => require('../terminal/output.js').failWith(problem))
  }
  return { define }
}

module.exports = { ofPackage }
