'use strict'

// Finds the SDK of the Model Context Protocol, an optional package that only this command loads.

const { createRequire } = require('node:module')
const path = require('node:path')
const { commandToAdd, findProject } = require('../../lib/addon/package-manager.js')

const NAME = '@modelcontextprotocol/sdk'
const SERVER = `${NAME}/server/mcp.js`

/**
 * @typedef {object} Sdk
 * @property {typeof import('@modelcontextprotocol/sdk/server/mcp.js').McpServer} McpServer
 * @property {typeof import('@modelcontextprotocol/sdk/server/stdio.js').StdioServerTransport} StdioServerTransport
 * @property {any} z zod, of the version that the SDK has: package managers need not show it to others
 */

/**
 * Returns the SDK that stands beside this package, or else the one of the project. Throws an error for the
 * user if neither can be used.
 * @param {string} project the working directory @param {string} [own] the place of this package
 * @returns {Sdk}
 */
function loadSdk(project, own = __filename) {
  for (const place of [own, path.join(project, 'package.json')]) {
    const found = resolveFrom(place, SERVER)
    if (found === undefined) continue
    const load = createRequire(found)
    const { McpServer } = load('./mcp.js')
    if (typeof McpServer?.prototype.registerTool !== 'function') throw new Error(tooOld(project))
    return {
      McpServer,
      StdioServerTransport: load('./stdio.js').StdioServerTransport,
      z: load('zod').z,
    }
  }
  throw new Error(`the package ${NAME} is not installed; ${remedy(project)}`)
}

/** Returns a file of another package, as seen from a place. @param {string} place @param {string} file */
function resolveFrom(place, file) {
  try {
    return createRequire(place).resolve(file)
  } catch {
    return undefined
  }
}

/** @param {string} project */
const tooOld = (project) => `the installed ${NAME} is too old; ${remedy(project)}`

/** @param {string} project */
function remedy(project) {
  const { peerDependencies } = require('../../package.json')
  // The whole range has a character that shells know.
  const [major] = /\d+/.exec(peerDependencies[NAME]) ?? []
  return `run: ${commandToAdd(findProject(project).manager, `${NAME}@${major}`)}`
}

module.exports = { loadSdk }
