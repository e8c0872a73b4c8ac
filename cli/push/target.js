'use strict'

// Where profiles are sent: the address, and what the environment adds for the server alone.

const fs = require('node:fs')
const { messageOf } = require('../terminal/output.js')

const ADDRESS = 'CPU_PROF_PUSH'
const HEADERS = 'CPU_PROF_PUSH_HEADERS'
const CERTIFICATES = 'CPU_PROF_PUSH_CA'
/** The most bytes of a file with certificates. */
const MOST_PEM = 4 << 20

/**
 * @typedef {object} Target
 * @property {string} url can have secrets
 * @property {Record<string, string>} headers can have secrets
 * @property {string} [certificates] PEM
 */

/** Returns the target of a command. Throws if none is named. @param {string | undefined} given @param {NodeJS.ProcessEnv} [env] @returns {Target} */
function targetOf(given, env = process.env) {
  const url = given ?? (env[ADDRESS] || undefined)
  if (url === undefined) {
    throw new Error(`no server is named: use --to http://localhost:4040, or set ${ADDRESS}`)
  }
  return { url, headers: headersOf(env[HEADERS] ?? ''), certificates: certificatesOf(env) }
}

/**
 * Returns the headers of a text such as `a=b,c=d`, as in OTEL_EXPORTER_OTLP_HEADERS: values can be
 * percent-encoded. Messages have no values.
 * @param {string} text
 */
function headersOf(text) {
  /** @type {Record<string, string>} */
  const headers = {}
  for (const part of text.split(',').map((each) => each.trim())) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = at < 0 ? '' : part.slice(0, at).trim()
    if (name === '') {
      throw new Error(`${HEADERS}: each header is a name and a value, as X-Scope-OrgID=team`)
    }
    headers[name] = decoded(part.slice(at + 1).trim())
  }
  return headers
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the certificates of the user's own authority. @param {NodeJS.ProcessEnv} env */
function certificatesOf(env) {
  const file = env[CERTIFICATES]
  if (!file) return undefined
  try {
    if (fs.statSync(file).size > MOST_PEM) throw new Error('the file is too large')
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${CERTIFICATES}: the certificates cannot be read: ${messageOf(error)}`)
  }
}

module.exports = { ADDRESS, targetOf, headersOf }
