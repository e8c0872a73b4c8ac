'use strict'

// A server that answers a few hundred requests of another process, and then closes.

const http = require('node:http')
const { spawn } = require('node:child_process')
const path = require('node:path')

/** @param {number} size */
function renderTable(size) {
  const rows = Array.from({ length: size }, (_, row) => `<tr><td>${row}<td>${fibonacci(row % 16)}`)
  return `<table>${rows.join('')}</table>`
}

/** @param {number} n @returns {number} */
function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}

let served = 0
const server = http.createServer((request, response) => {
  served++
  if (request.url === '/table') response.end(renderTable(300))
  else response.end(JSON.stringify({ served }))
})

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const visitor = path.join(__dirname, 'visitor.js')
  spawn(process.execPath, [visitor, String(port)], { stdio: 'inherit' }).on('exit', () => {
    server.close()
    console.log(`${served} requests served`)
  })
})
