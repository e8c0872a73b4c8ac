'use strict'

// Programs that stand for armed processes: they answer on a control socket what a spec wants.

const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { temporaryDirectory } = require('./files.js')

/** The id of a process that a spec stands for. */
const PID = 4711

/** Creates a folder for control sockets. @param {number} [mode] */
function socketFolder(mode = 0o700) {
  const folder = temporaryDirectory('s-')
  fs.chmodSync(folder, mode)
  return folder
}

/** Returns a status of a process that is armed. @param {Record<string, any>} [facts] */
function statusOf(facts = {}) {
  return {
    pid: PID,
    ppid: 1,
    node: 'v24.0.0',
    label: 'server.js',
    cwd: '/srv/api',

    script: '/srv/api/server.js',
    argv: ['/usr/bin/node', '/srv/api/server.js', '--port', '80'],
    dir: '/srv/api',
    armedMs: Date.now(),
    threads: 1,
    conditions: [],
    recording: null,
    last: null,
    ...facts,
  }
}

/**
 * Answers on a control socket until the end of the spec.
 * @param {import('node:test').TestContext} t @param {string} folder
 * @param {(request: any) => unknown} reply returns a value, which is sent as JSON, or a text, which is
 *   sent as it is; undefined for no answer
 * @param {number} [pid]
 */
async function serve(t, folder, reply, pid = PID) {
  const file = path.join(folder, `${pid}-${serve.count++}.sock`)
  const server = net.createServer((connection) => {
    connection.on('error', () => {})
    connection.once('data', (data) => {
      const answer = reply(JSON.parse(String(data)))
      if (answer === undefined) return
      connection.write(typeof answer === 'string' ? answer : `${JSON.stringify(answer)}\n`)
    })
  })
  /** @type {Set<import('node:net').Socket>} */
  const connections = new Set()
  server.on('connection', (connection) => connections.add(connection))
  await new Promise((resolve) => server.listen(file, () => resolve(undefined)))
  t.after(() => {
    for (const connection of connections) connection.destroy()
    server.close()
  })
  return file
}
serve.count = 1

/** Answers every request with a status. @param {import('node:test').TestContext} t @param {string} folder @param {Record<string, any>} [facts] */
function serveStatus(t, folder, facts) {
  const status = statusOf(facts)
  return serve(t, folder, () => ({ v: 1, status }), status.pid)
}

module.exports = { PID, serve, serveStatus, socketFolder, statusOf }
