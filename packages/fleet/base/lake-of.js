'use strict'

// Finds the lake of a command: what the option names, or else the environment.

const path = require('node:path')
const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage
const { variableOf } = require('@org/cpu-prof/own-packages').settings

/** The environment variable that names the lake where no option does. */
const VARIABLE = variableOf('lake')
const EXAMPLE = 'name a folder, or s3://<bucket>/<folder>'

/**
 * Returns the lake, an absolute path of a folder or an `s3://` address; undefined if neither the option nor
 * CPU_PROF_LAKE names one. Throws if the text is no place for a lake.
 * @param {string | undefined} given the option or argument @param {NodeJS.ProcessEnv} [env]
 */
function lakeOf(given, env = process.env) {
  const text = given ?? (env[VARIABLE] || undefined)
  if (text === undefined) return undefined
  const source = given === undefined ? `${VARIABLE}=` : ''
  if (text.trim() === '') throw new WrongUsage(`the lake has no name; ${EXAMPLE}`)
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(text) ?? []
  if (scheme === undefined) return path.resolve(text)
  if (scheme.toLowerCase() !== 's3') {
    throw new WrongUsage(`${source}${withoutPassword(text)} is no lake; ${EXAMPLE}`)
  }
  if (!/^s3:\/\/[^/@?#]+(\/[^?#]*)?$/i.test(text)) {
    throw new WrongUsage(`${source}${withoutPassword(text)} names no bucket alone; ${EXAMPLE}`)
  }
  return text
}

/** Returns the lake, or throws with the options that would name one. @param {string | undefined} given @param {string} option */
function neededLake(given, option) {
  const lake = lakeOf(given)
  if (lake === undefined)
    throw new WrongUsage(`no lake is named: use ${option}, or set ${VARIABLE}`)
  return lake
}

/** Returns an address without its user, password and query, for messages. @param {string} address */
function withoutPassword(address) {
  return address.replace(/^([^:]+:\/\/)[^/]*@/, '$1').replace(/[?#].*$/, '')
}

module.exports = { VARIABLE, lakeOf, neededLake }
