'use strict'

// Servers of S3 on loopback: rclone's, and one that answers wrongly.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { ENGINES } = require('../../../../__test__/helpers/engines.js')
const { cleanEnv, temporaryDirectory } = require('../../../../__test__/helpers/files.js')

const KEY = 'AKIDOFTHESPEC'
const SECRET = 'secret/of+the=spec'
const TOKEN = 'token-of-the-spec'

/**
 * Returns the variables for a server. The cache is a folder of its own.
 * @param {string} endpoint @param {Record<string, string>} [more]
 */
function variablesOf(endpoint, more = {}) {
  return {
    AWS_ACCESS_KEY_ID: KEY,
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_ENDPOINT_URL: endpoint,
    AWS_ALLOW_HTTP: 'true',
    XDG_CACHE_HOME: temporaryDirectory(),
    ...more,
  }
}

/**
 * Starts rclone with an empty bucket `bucket`, and ends it after the test.
 * @param {{ after(end: () => void): void }} t
 * @returns {Promise<{ env: Record<string, string>, dir: string }>} the variables, and the folder of the bucket
 */
async function startRclone(t) {
  const root = temporaryDirectory()
  const dir = path.join(root, 'bucket')
  fs.mkdirSync(dir)
  const args = ['serve', 's3', '--addr', '127.0.0.1:0', '--auth-key', `${KEY},${SECRET}`]
  // A list has what was written just before, also by another program.
  const child = spawn(ENGINES.rclone.file, [...args, '--vfs-cache-mode', 'off', root], {
    env: { ...cleanEnv(), RCLONE_CONFIG: path.join(root, 'none') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const endpoint = await new Promise((resolve, reject) => {
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
      const address = /Starting s3 server on \[(http:\S+?)\/\]/.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('exit', () => reject(new Error(text)))
  })
  return { env: variablesOf(endpoint), dir }
}

/**
 * Starts a server that answers as a function says.
 * @param {{ after(end: () => void): void }} t @param {http.RequestListener} listener
 * @returns {Promise<string>} its address
 */
async function startServer(t, listener) {
  const server = http.createServer(listener)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => {
    server.close()
    // Node has it from 18.2 on.
    server.closeAllConnections()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return `http://127.0.0.1:${port}`
}

module.exports = { KEY, SECRET, TOKEN, variablesOf, startRclone, startServer }
