'use strict'

// Sends a few hundred requests to the server of main.js, four at a time.

const http = require('node:http')

const port = Number(process.argv[2])
const REQUESTS = 300
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

/** Requests a page. @param {string} path @returns {Promise<number>} the length of the response */
function visit(path) {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path, agent }, (response) => {
      let length = 0
      response.on('data', (data) => {
        length += data.length
      })
      response.on('end', () => resolve(length))
    })
    request.on('error', reject)
  })
}

async function main() {
  const visits = Array.from({ length: REQUESTS }, (_, i) => visit(i % 3 === 0 ? '/' : '/table'))
  const lengths = await Promise.all(visits)
  console.log(`${lengths.reduce((sum, length) => sum + length, 0)} bytes received`)
  agent.destroy()
}

main()
