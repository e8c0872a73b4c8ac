'use strict'

// Measures what a push every ten seconds costs a loaded server: the CPU time of the server's own threads that
// push (CPU_PROF_PUSH), or of `cpu-prof push --follow` beside the server, for the CPU time of the server, and
// the memory. A sink on loopback takes the profiles.
// Usage: node bench/push.js [windows]

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { PACKAGE } = require('./measure.js')

const EVERY_MS = 10_000
const TICKS_PER_SECOND = 100
const SERVER = `
  const http = require('node:http')
  const sort = () => Array.from({ length: 3000 }, (_, i) => Math.sin(i)).sort()
  const copy = () => JSON.parse(JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i }))))
  const page = () => sort().slice(9).concat(copy()).map((each) => String(each)).join('')
  http.createServer((_, response) => response.end(page())).listen(0, function () {
    const { port } = this.address()
    const ask = () => http.get({ port }, (response) => response.resume().on('end', ask))
    ask()
  })`

/** What is sent where, by the kind of the server. */
const PATHS = { pyroscope: '', otlp: '/v1development/profiles' }

async function main() {
  const windows = Number(process.argv[2] ?? 5)
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(root, { recursive: true }))
  for (const [kind, at] of Object.entries(PATHS)) {
    const sink = await openSink()
    const to = `http://127.0.0.1:${sink.port}${at}`
    for (const measured of [within, beside]) {
      const dir = fs.mkdtempSync(path.join(root, `${kind}-`))
      await measured(kind, { dir, to, sink, windows })
    }
    sink.server.close()
  }
}

/**
 * @typedef {Awaited<ReturnType<typeof openSink>>} Sink
 * @typedef {{ dir: string, to: string, sink: Sink, windows: number }} Setup
 */

/** Opens a server that counts what it gets. */
async function openSink() {
  const got = { bytes: 0, profiles: 0, arrived: () => {} }
  const server = http.createServer((request, response) => {
    request.on('data', (chunk) => {
      got.bytes += chunk.length
    })
    request.on('end', () => {
      got.profiles++
      response.end()
      got.arrived()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const next = () =>
    new Promise((resolve) => {
      got.arrived = () => resolve(undefined)
    })
  return { server, port, got, next }
}

/** Measures a server that sends its own profiles. @param {string} kind @param {Setup} setup */
async function within(kind, { dir, to, sink, windows }) {
  const plain = startServer(dir, {})
  const server = startServer(dir, { CPU_PROF_PUSH: to })
  const ownMs = () => threadsMs(server, 'cpu-prof-push')
  await measure(`${kind}, within`, sink, windows, server, ownMs)
  const [more, less] = [server, plain].map((child) => memoryMb(child, 'VmRSS'))
  console.log(`  the server has ${more.toFixed(0)} MB, one that only records ${less.toFixed(0)} MB`)
  for (const child of [plain, server]) await end(child)
}

/** Measures the command beside a server. @param {string} kind @param {Setup} setup */
async function beside(kind, { dir, to, sink, windows }) {
  const server = startServer(dir, {})
  const bin = path.join(PACKAGE, 'bin', 'cpu-prof.js')
  const args = [bin, 'push', dir, '--follow', '--every', `${EVERY_MS}ms`, '--to', to]
  const push = spawn(process.execPath, args, { stdio: 'inherit' })
  await measure(`${kind}, beside`, sink, windows, server, () => cpuMs(push))
  console.log(`  the command has ${memoryMb(push, 'VmHWM').toFixed(0)} MB at most`)
  await end(server)
  await new Promise((resolve) => push.once('exit', resolve))
}

/** @param {string} dir @param {Record<string, string>} variables */
function startServer(dir, variables) {
  const env = { ...process.env, CPU_PROF_DIR: dir, ...variables }
  return spawn(process.execPath, ['--require', PACKAGE, '-e', SERVER], { env })
}

/** @param {import('node:child_process').ChildProcess} child */
function end(child) {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  return ended
}

/**
 * Prints the cost of some windows.
 * @param {string} title @param {Sink} sink @param {number} windows
 * @param {import('node:child_process').ChildProcess} server
 * @param {() => number} pushMs returns the CPU time of what sends, milliseconds
 */
async function measure(title, { next, got }, windows, server, pushMs) {
  await next()
  Object.assign(got, { bytes: 0, profiles: 0 })
  const before = [pushMs(), cpuMs(server)]
  for (let window = 0; window < windows; window++) await next()
  const [ms, serverMs] = [pushMs() - before[0], cpuMs(server) - before[1]]
  console.log(
    `${title}: ${ms} ms of CPU for ${serverMs} ms of the server (${((100 * ms) / serverMs).toFixed(2)} %), ` +
      `${(ms / windows).toFixed(0)} ms a window, ${(got.bytes / got.profiles / 1000).toFixed(1)} kB each`,
  )
}

/** Returns a figure of a process's memory, MB. @param {import('node:child_process').ChildProcess} child @param {string} name */
function memoryMb({ pid }, name) {
  const text = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]) / 1000
}

/** Returns the CPU time of the threads with a name so far, milliseconds. @param {import('node:child_process').ChildProcess} child @param {string} name */
function threadsMs({ pid }, name) {
  const tasks = fs.readdirSync(`/proc/${pid}/task`).map((tid) => `/proc/${pid}/task/${tid}`)
  const named = tasks.filter((task) => fs.readFileSync(`${task}/comm`, 'utf8').trim() === name)
  return named.reduce((sum, task) => sum + statMs(`${task}/stat`), 0)
}

/** Returns the CPU time of a process so far, milliseconds. @param {import('node:child_process').ChildProcess} child */
const cpuMs = ({ pid }) => statMs(`/proc/${pid}/stat`)

/** @param {string} file of /proc */
function statMs(file) {
  const text = fs.readFileSync(file, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

main()
