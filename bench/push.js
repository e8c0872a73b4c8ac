'use strict'

// Measures what `cpu-prof push --follow` costs beside a loaded server, with a push every ten seconds: the CPU
// time of the command for that of the server, and its memory. A sink on loopback takes the profiles.
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

async function main() {
  const windows = Number(process.argv[2] ?? 5)
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  for (const kind of ['pyroscope', 'otlp']) await measure(kind, dir, windows)
}

/** @param {string} kind @param {string} root @param {number} windows */
async function measure(kind, root, windows) {
  const dir = path.join(root, kind)
  fs.mkdirSync(dir)
  let bytes = 0
  let received = 0
  /** @type {() => void} */
  let arrived = () => {}
  const sink = http.createServer((request, response) => {
    request.on('data', (chunk) => {
      bytes += chunk.length
    })
    request.on('end', () => {
      received++
      response.end()
      arrived()
    })
  })
  await new Promise((resolve) => sink.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (sink.address())
  const env = { ...process.env, CPU_PROF_DIR: dir }
  const server = spawn(process.execPath, ['--require', PACKAGE, '-e', SERVER], { env })
  const bin = path.join(PACKAGE, 'bin', 'cpu-prof.js')
  const to = ['--to', `http://127.0.0.1:${port}`, '--as', kind]
  const args = [bin, 'push', dir, '--follow', '--every', `${EVERY_MS}ms`, ...to]
  const push = spawn(process.execPath, args, { stdio: 'inherit' })
  const next = () =>
    new Promise((resolve) => {
      arrived = () => resolve(undefined)
    })
  await next()
  const before = [cpuMs(push), cpuMs(server)]
  for (let window = 0; window < windows; window++) await next()
  const [pushMs, serverMs] = [cpuMs(push) - before[0], cpuMs(server) - before[1]]
  const memory = /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${push.pid}/status`, 'utf8'))?.[1]
  server.kill('SIGKILL')
  await new Promise((resolve) => push.once('exit', resolve))
  sink.close()
  const share = ((100 * pushMs) / serverMs).toFixed(2)
  console.log(
    `${kind}: ${pushMs} ms of CPU beside ${serverMs} ms of the server (${share} %), ` +
      `${(pushMs / windows).toFixed(0)} ms a window, ${(bytes / received / 1000).toFixed(1)} kB each, ` +
      `${(Number(memory) / 1000).toFixed(0)} MB at most`,
  )
}

/** Returns the CPU time of a process so far, milliseconds. @param {import('node:child_process').ChildProcess} child */
function cpuMs({ pid }) {
  const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

main()
