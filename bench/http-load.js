'use strict'

// A loaded HTTP server: eight clients of another process ask for tables, REQUESTS times (150,000), and then
// the server ends.

const fs = require('node:fs')
const path = require('node:path')

const SERVER = `
const http = require('node:http')
const { spawn } = require('node:child_process')
const rows = Array.from({ length: 40 }, (_, id) => ({ id, name: 'row ' + id, tags: ['a', 'b'] }))
const render = (row) => '<tr><td>' + row.id + '</td><td>' + row.name + '</td></tr>'
const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost')
  const data = JSON.parse(JSON.stringify(rows)).filter((row) => row.id % 3 < Number(url.searchParams.get('n')))
  response.setHeader('content-type', 'text/html')
  response.end('<table>' + data.map(render).join('') + '</table>')
})
server.listen(0, () => {
  const env = { ...process.env, PORT: server.address().port, CPU_PROF_DIR: process.env.OTHER }
  const client = spawn(process.execPath, [__dirname + '/client.js'], { env, stdio: 'inherit' })
  client.on('exit', () => { server.close(); server.closeIdleConnections() })
})`
const CLIENT = `
const http = require('node:http')
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })
let left = Number(process.env.REQUESTS ?? 150_000)
function next() {
  if (left-- <= 0) return
  http.get({ port: process.env.PORT, path: '/rows?n=' + (left % 3), agent }, (response) => {
    response.resume().on('end', next)
  })
}
for (let i = 0; i < 8; i++) next()
setInterval(() => { if (left < -7) process.exit() }, 20)`

/** Writes the programs. Returns Node's arguments. @param {string} dir */
function writeServer(dir) {
  fs.writeFileSync(path.join(dir, 'server.js'), SERVER)
  fs.writeFileSync(path.join(dir, 'client.js'), CLIENT)
  return [path.join(dir, 'server.js')]
}

module.exports = { writeServer }
