'use strict'

// A server on loopback that gets profiles, over HTTP or HTTPS.

const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const zlib = require('node:zlib')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')

/**
 * @typedef {{ method?: string, url: URL, headers: http.IncomingHttpHeaders, body: Buffer }} Pushed
 * @typedef {(response: http.ServerResponse, pushed: Pushed, number: number) => void} Answer
 */

/**
 * Starts a server, which keeps all requests and answers as a function says. The number of the first is 0.
 * @param {{ after(end: () => void): void }} t @param {Answer} [answer] an empty answer without
 * @param {{ key: string, cert: string }} [tls]
 */
async function startPushServer(t, answer = (response) => response.end(), tls = undefined) {
  /** @type {Pushed[]} */
  const pushed = []
  /** @type {http.RequestListener} */
  const listener = (request, response) => {
    /** @type {Buffer[]} */
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method, headers } = request
      const body = Buffer.concat(chunks)
      pushed.push({ method, url: new URL(`${request.url}`, 'http://server'), headers, body })
      answer(response, pushed[pushed.length - 1], pushed.length - 1)
      server.emit('pushed')
    })
  }
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener)
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  t.after(end)
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  /** Waits until this many requests have come. @param {number} count */
  const arrived = async (count) => {
    while (pushed.length < count) await once(server, 'pushed')
  }
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}`, port, pushed, arrived, end }
}

/** Writes the pprof of requests into files, for the tools. @param {Pushed[]} pushed */
function pprofFiles(pushed) {
  const dir = temporaryDirectory()
  return pushed.map(({ body }, index) => {
    const file = path.join(dir, `${index}.pb`)
    fs.writeFileSync(file, zlib.gunzipSync(body))
    return file
  })
}

/** Makes a certificate for localhost that nobody vouches for. None without the program openssl. */
function makeCertificate() {
  const dir = temporaryDirectory()
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(dir, name))
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(
    ' ',
  )
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  // A certificate that is an authority is refused as one of a server.
  const ends = ['-addext', 'basicConstraints=critical,CA:FALSE']
  const made = spawnSync('openssl', [...words, ...names, ...ends, '-keyout', key, '-out', cert])
  if (made.error !== undefined || made.status !== 0) return undefined
  return { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(cert, 'utf8') }
}

module.exports = { startPushServer, pprofFiles, makeCertificate }
