'use strict'

// A package registry of a few packages on this machine: package managers choose from it what they
// install, as from the real one.

const crypto = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')

/** When all versions were published. */
const OLD = '2020-01-01T00:00:00.000Z'

/** @typedef {{ manifest: any, file: string }} Packed a package and its tarball */

/**
 * Serves packages. Returns the address of the registry, and a function that ends the registry.
 * @param {Packed[]} packages
 */
async function serveRegistry(packages) {
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(String(request.url).slice(1))
    const tarball = packages.find(({ file }) => name.endsWith(`/-/${path.basename(file)}`))
    const versions = packages.filter(({ manifest }) => manifest.name === name)
    if (tarball !== undefined) {
      response.end(fs.readFileSync(tarball.file))
    } else if (versions.length > 0) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(document(versions, `http://${request.headers.host}`)))
    } else {
      response.statusCode = 404
      response.end('{}')
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const end = () => {
    server.closeAllConnections?.()
    server.close()
  }
  return { address: `http://127.0.0.1:${port}`, end }
}

/** Returns what a registry tells about the versions of a package. @param {Packed[]} versions @param {string} address */
function document(versions, address) {
  const { name, version: latest } = versions[0].manifest
  const entries = versions.map(({ manifest, file }) => {
    const bytes = fs.readFileSync(file)
    const digest = (/** @type {string} */ algorithm) => crypto.createHash(algorithm).update(bytes)
    const dist = {
      tarball: `${address}/${name}/-/${path.basename(file)}`,
      integrity: `sha512-${digest('sha512').digest('base64')}`,
      shasum: digest('sha1').digest('hex'),
    }
    return [manifest.version, { ...manifest, dist }]
  })
  // Some package managers take no version that is younger than a day.
  const time = Object.fromEntries(versions.map(({ manifest }) => [manifest.version, OLD]))
  return { name, 'dist-tags': { latest }, time, versions: Object.fromEntries(entries) }
}

module.exports = { serveRegistry }
