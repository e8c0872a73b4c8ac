'use strict'

// An agent: starts a server, asks for its tools and for the runs, and prints both: `mcp.js <Node> <server.js>`.

const { spawn } = require('node:child_process')

const [node, file] = process.argv.slice(2)
const server = spawn(node, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
const send = (/** @type {object} */ message) =>
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

/** What is sent after each answer. @type {object[]} */
const requests = [
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: { name: 'runs', arguments: {} } },
]
/** @type {object[]} */
const answers = []
let text = ''
server.stdout.setEncoding('utf8').on('data', (part) => {
  const lines = (text + part).split('\n')
  text = lines.pop() ?? ''
  for (const line of lines) {
    answers.push(JSON.parse(line).result)
    const next = requests.shift()
    if (next === undefined) server.stdin.end()
    else send(next)
  }
})
server.on('close', (code) => console.log(JSON.stringify({ code, answers })))

const clientInfo = { name: 'smoke', version: '1.0.0' }
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
send({ id: 1, method: 'initialize', params })
