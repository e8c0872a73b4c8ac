'use strict'

// A server of profiles on loopback, which keeps what it gets.

const http = require('node:http')
const zlib = require('node:zlib')
const fs = require('node:fs')
const path = require('node:path')
const { temporaryDirectory } = require('./files.js')

/**
 * @typedef {object} Received
 * @property {string} path without the query
 * @property {URLSearchParams} query
 * @property {http.IncomingHttpHeaders} headers
 * @property {Buffer} body
 *
 * @typedef {object} ProfileServer
 * @property {string} url
 * @property {Received[]} received in the order of their ends
 * @property {(answer: (request: Received, response: http.ServerResponse) => void) => void} answers changes
 *   what the server answers; default: 200
 */

/** Starts a server, and ends it after the test. @param {{ after(end: () => void): void }} t @returns {Promise<ProfileServer>} */
async function startProfileServer(t) {
  /** @type {Received[]} */
  const received = []
  let answer = (/** @type {Received} */ _, /** @type {http.ServerResponse} */ response) => {
    response.end()
  }
  const server = http.createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
      const got = { path: pathname, query: searchParams, headers: request.headers }
      const one = { ...got, body: Buffer.concat(chunks) }
      received.push(one)
      answer(one, response)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => {
    server.closeAllConnections?.()
    server.close()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    answers: (changed) => {
      answer = changed
    },
  }
}

/** Writes the pprof of requests into files, for the tools. @param {Received[]} received */
function pprofFiles(received) {
  const dir = temporaryDirectory()
  return received.map(({ body }, index) => {
    const file = path.join(dir, `${index}.pb`)
    fs.writeFileSync(file, zlib.gunzipSync(body))
    return file
  })
}

module.exports = { startProfileServer, pprofFiles }
