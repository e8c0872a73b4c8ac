'use strict'

// Reads the name of a repository from the address of its remote, without credentials.

const { cleanText } = require('./values.js')

/** Folders in addresses that are no part of the name: of Azure DevOps, Bitbucket and Gitea. */
const NO_NAME = new Set(['_git', 'v3', 'scm', '~'])

/**
 * Returns `owner/name` of an address, with all groups of GitLab; undefined if the address has no name. A
 * path of this machine gives the last folder alone.
 * @param {string | undefined} address as git has it
 */
function repoOf(address) {
  const text = cleanAddress(address)
  if (text === undefined) return undefined
  const { names, isLocal } = partsOf(text)
  // A password with a slash or an @ looks like a part of the path.
  const parts = afterSecret(names).map(decoded)
  // The password can be encoded.
  const rest = afterSecret(parts)
  const last = rest.pop()?.replace(/\.git$/i, '')
  if (!last) return undefined
  const groups = isLocal ? [] : rest.filter((name) => !NO_NAME.has(name))
  return cleanText([...groups, last].join('/'))
}

/**
 * Returns an address without spaces around, the helper in front, and its query; undefined if a password could
 * look like a query.
 * @param {string | undefined} address
 */
function cleanAddress(address) {
  const text = address?.trim().replace(/^[\w+-]+::/, '')
  return text === undefined || /[?#].*@/s.test(text) ? undefined : text.replace(/[?#].*$/s, '')
}

/** Returns the names behind the last that can be a password. @param {string[]} names */
function afterSecret(names) {
  return names.slice(names.map((name) => name.includes('@')).lastIndexOf(true) + 1)
}

/** Returns the folders of an address behind the machine. @param {string} address */
function partsOf(address) {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(address) ?? []
  if (scheme !== undefined) {
    const isLocal = scheme.toLowerCase() === 'file'
    return { names: folders(rest).slice(isLocal || rest.startsWith('/') ? 0 : 1), isLocal }
  }
  const isWindows = /^[a-z]:[\\/]/i.test(address)
  const colon = address.indexOf(':')
  const slash = address.search(/[\\/]/)
  // As git decides: a colon before the first slash makes it a machine's.
  const isScp = !isWindows && colon > 0 && (slash === -1 || colon < slash)
  return isScp
    ? { names: folders(address.slice(colon + 1)), isLocal: false }
    : { names: folders(address), isLocal: true }
}

/** @param {string} text */
const folders = (text) => text.split(/[\\/]+/).filter((name) => !['', '.', '..'].includes(name))

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

module.exports = { repoOf }
