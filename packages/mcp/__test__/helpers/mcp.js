'use strict'

// Agents: clients of `cpu-prof mcp`, with the SDK's own client and without.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { Client } = require('@modelcontextprotocol/sdk/client/index.js')
const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js')
const { BIN } = require('../../../../__test__/helpers/cli.js')
const { cleanEnv } = require('../../../../__test__/helpers/files.js')

/** @typedef {{ text: string, data: any, isError: boolean }} Answer */

/**
 * Starts a server in a project, and connects to it until the test ends.
 * @param {import('node:test').TestContext} t @param {string} project @param {string[]} [args] of the server
 * @param {Record<string, string>} [env] added to the environment
 */
async function connect(t, project, args = [], env = {}) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp', ...args],
    cwd: project,
    env: { .../** @type {Record<string, string>} */ (cleanEnv()), ...env },
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (data) => {
    stderr += data
  })
  const client = new Client({ name: 'spec', version: '1.0.0' })
  await client.connect(transport)
  t.after(() => client.close())
  /**
   * @param {string} name @param {Record<string, unknown>} [args]
   * @param {import('@modelcontextprotocol/sdk/shared/protocol.js').RequestOptions} [options]
   * @returns {Promise<Answer>}
   */
  const call = async (name, args = {}, options) => {
    const limits = { timeout: 120_000, ...options }
    /** @type {any} */
    const { content, structuredContent, isError } = await client.callTool(
      { name, arguments: args },
      undefined,
      limits,
    )
    return { text: content[0].text, data: structuredContent, isError: isError === true }
  }
  /** Ends the server, and resolves with all that it has written to stderr. */
  const end = async () => {
    const hasEnded = once(/** @type {import('node:stream').Stream} */ (transport.stderr), 'end')
    await client.close()
    await hasEnded
    return stderr
  }
  return { client, call, end, pid: Number(transport.pid) }
}

/**
 * Starts a server that is spoken to line by line.
 * @param {import('node:test').TestContext} t @param {string} project
 */
function speak(t, project) {
  const child = spawn(process.execPath, [BIN, 'mcp'], { cwd: project, env: cleanEnv() })
  t.after(() => child.kill('SIGKILL'))
  /** @type {string[]} */
  const lines = []
  const said = { stderr: '' }
  /** @type {(() => void)[]} */
  const waiting = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const all = (rest + text).split('\n')
    rest = all.pop() ?? ''
    lines.push(...all)
    for (const wake of waiting.splice(0)) wake()
  })
  child.stderr.on('data', (data) => {
    said.stderr += data
  })
  /** Resolves with the answer to a request. @param {number} id @returns {Promise<any>} */
  const answerTo = async (id) => {
    for (;;) {
      const found = lines.map((line) => JSON.parse(line)).find((message) => message.id === id)
      if (found !== undefined) return found
      await new Promise((resolve) => waiting.push(() => resolve(undefined)))
    }
  }
  const write = (/** @type {string} */ text) => child.stdin.write(text)
  /** @param {number} id @param {string} method @param {unknown} params */
  const request = (id, method, params) => {
    write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return answerTo(id)
  }
  /** @param {string} protocolVersion */
  const initialize = (protocolVersion) => {
    const clientInfo = { name: 'spec', version: '1.0.0' }
    return request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo })
  }
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return { child, write, request, initialize, ended, lines, said }
}

module.exports = { connect, speak }
