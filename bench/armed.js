'use strict'

// What an armed process costs, and how fast a recording starts and stops.
// Arguments: [rounds=15] [part]. Instructions need valgrind.

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { temporaryDirectory, PACKAGE } = require('../__test__/helpers/files.js')
const { ask, socketOf } = require('../__test__/helpers/control.js')
const { writeServer } = require('./http-load.js')
const { instructions, median, wallTime } = require('./measure.js')

const ROUNDS = Number(process.argv[2] ?? 15)
const PART = process.argv[3] ?? 'all'
const IDLE_MS = 5000
const SHORT = ['-e', '0']
/** Prints its peak memory, KiB. */
const PEAK = ['-e', 'process.stdout.write(String(process.resourceUsage().maxRSS))']

/** A program under full load: prints the longest time in which it did nothing, milliseconds. */
const LOAD = `
  let last = process.hrtime.bigint(), longest = 0n
  process.on('message', () => { process.send(Number(longest) / 1e6); longest = 0n })
  process.send('ready')
  function request(n) { let sum = 0; for (let i = 0; i < n; i++) sum += Math.sqrt(i); return sum }
  setImmediate(function turn() {
    for (let i = 0; i < 20; i++) {
      request(5000)
      const now = process.hrtime.bigint()
      if (now - last > longest) longest = now - last
      last = now
    }
    setImmediate(turn)
  })`

/** The same after work of a compiler and a linter, as in a program that has run. */
const LATE = `
  const typescript = require(${JSON.stringify(require.resolve('typescript'))})
  const { Linter } = require(${JSON.stringify(require.resolve('eslint'))})
  const text = require('node:fs').readFileSync(${JSON.stringify(require.resolve('commander'))}, 'utf8')
  for (let i = 0; i < 20; i++) {
    typescript.transpileModule(text, { reportDiagnostics: true })
    new Linter().verify(text, [{ rules: { 'no-unused-vars': 1, 'no-shadow': 1 } }])
  }
  ${LOAD}`

const folder = temporaryDirectory()
const plain = { env: { ...process.env }, cwd: folder, encoding: /** @type {'utf8'} */ ('utf8') }
const armed = {
  ...plain,
  env: { ...process.env, CPU_PROF_START: 'off', CPU_PROF_SOCKET: path.join(folder, 's') },
}
const PRELOAD = ['--require', PACKAGE]

/** @param {string[]} args @param {typeof plain} options */
const wallMs = (args, { env }) => wallTime(args, env)

/** @param {string[]} args @param {typeof plain} options */
const peakKiB = (args, options) => Number(spawnSync(process.execPath, args, options).stdout)

/** Returns how often the threads of a process waited, by their names. @param {number | undefined} pid */
function waits(pid) {
  const tasks = `/proc/${pid}/task`
  /** @type {Record<string, number>} */
  const counts = {}
  for (const id of fs.readdirSync(tasks)) {
    const name = fs.readFileSync(`${tasks}/${id}/comm`, 'utf8').trim()
    const status = fs.readFileSync(`${tasks}/${id}/status`, 'utf8')
    const count = Number(/\nvoluntary_ctxt_switches:\s*(\d+)/.exec(status)?.[1])
    counts[name] = (counts[name] ?? 0) + count
  }
  return counts
}

/** @param {string[]} args @param {string} [source] */
async function start(args, source = 'auto') {
  const child = spawn(process.execPath, [...PRELOAD, ...args], {
    ...armed,
    env: { ...armed.env, CPU_PROF_SOURCE: source },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await new Promise((resolve) => child.once('message', resolve))
  return { child, socket: socketOf(armed.env.CPU_PROF_SOCKET, child.pid) }
}

/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function idle() {
  const { child } = await start(['-e', "setInterval(() => {}, 1e9); process.send('ready')"])
  await sleep(1000)
  const before = waits(child.pid)
  await sleep(IDLE_MS)
  const after = waits(child.pid)
  child.kill('SIGKILL')
  return Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]))
}

/** @param {string} program @param {string} [source] */
async function underLoad(program, source) {
  const { child, socket } = await start(['-e', program], source)
  const longest = () => {
    child.send('longest')
    return new Promise((resolve) => child.once('message', resolve))
  }
  /** @type {Record<string, number[]>} */
  const ms = {
    'first sample': [],
    start: [],
    'pause of a first start': [],
    'pause of a start': [],
    'pause while it records': [],
    stop: [],
    'pause of a stop': [],
  }
  await sleep(500)
  for (let round = 0; round < ROUNDS; round++) {
    await longest()
    const asked = process.hrtime.bigint()
    const before = performance.now()
    await ask(socket, { do: 'start' })
    ms.start.push(performance.now() - before)
    ms[round === 0 ? 'pause of a first start' : 'pause of a start'].push(Number(await longest()))
    await sleep(1200)
    ms['pause while it records'].push(Number(await longest()))
    const stopping = performance.now()
    const { stopped } = await ask(socket, { do: 'stop' })
    ms.stop.push(performance.now() - stopping)
    ms['pause of a stop'].push(Number(await longest()))
    const { traceEvents } = JSON.parse(fs.readFileSync(stopped.files[0], 'utf8'))
    const first = (/** @type {string} */ wanted) =>
      traceEvents.find((/** @type {any} */ { name }) => name === wanted)
    const [chunk, profile] = [first('ProfileChunk'), first('Profile')]
    const [delta] = chunk.args.data.timeDeltas
    const firstUs = profile.args.data.startTime + delta
    ms['first sample'].push(firstUs / 1000 - Number(asked / 1000n) / 1000)
  }
  child.kill('SIGKILL')
  return ms
}

/**
 * Measures pairs of a plain and an armed program, in turns, so that a change of the machine meets both.
 * @param {(args: string[], options: typeof plain) => number} measure @param {string[]} args
 */
function pairs(measure, args) {
  const all = Array.from({ length: ROUNDS }, () => [
    measure(args, plain),
    measure([...PRELOAD, ...args], armed),
  ])
  const [a, b] = [0, 1].map((side) => median(all.map((pair) => pair[side])))
  const difference = median(all.map(([without, within]) => within - without))
  const ratio = median(all.map(([without, within]) => within / without))
  return { a, b, difference, ratio }
}

/** What is measured of an armed process, by its name. @type {Record<string, () => unknown>} */
const PARTS = {
  startup() {
    const { a, difference } = pairs(wallMs, SHORT)
    console.log(`start-up, ms: ${a.toFixed(1)} + ${difference.toFixed(1)}`)
  },
  memory() {
    const { a, difference } = pairs(peakKiB, PEAK)
    console.log(`peak memory, KiB: ${a.toFixed(0)} + ${difference.toFixed(0)}`)
  },
  instructions() {
    const without = instructions(SHORT, plain)
    const counted = instructions([...PRELOAD, ...SHORT], armed)
    console.log(`instructions, millions: ${without.toFixed(1)} + ${(counted - without).toFixed(1)}`)
  },
  server() {
    const args = writeServer(folder)
    const { a, b, ratio } = pairs(wallMs, args)
    console.log(
      `150,000 requests, ms: ${a.toFixed(0)}, armed ${b.toFixed(0)} (${ratio.toFixed(3)})`,
    )
  },
  async waits() {
    console.log(`waits of each thread in ${IDLE_MS / 1000} s: ${JSON.stringify(await idle())}`)
  },
  async load() {
    print('', await underLoad(LOAD))
  },
  async late() {
    for (const source of ['v8', 'walk', 'v8', 'walk']) {
      print(`after typescript and eslint, ${source}: `, await underLoad(LATE, source))
    }
  },
}

/** @param {string} title @param {Record<string, number[]>} ms */
function print(title, ms) {
  for (const [what, values] of Object.entries(ms)) {
    const worst = Math.max(...values)
    console.log(`${title}${what}, ms: ${median(values).toFixed(1)}, at most ${worst.toFixed(1)}`)
  }
}

async function main() {
  console.log(`Node ${process.version}, ${ROUNDS} rounds, medians`)
  for (const [name, measure] of Object.entries(PARTS)) {
    if (PART === 'all' || PART === name) await measure()
  }
}

main()
