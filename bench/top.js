'use strict'

// Measures what looks at growing recordings cost: the share of a core on a run of forty busy programs,
// and the first look at a recording of 200 MB.
// Usage: node bench/top.js [looks]

const { spawn, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { Follower } = require('../cli/live/follower.js')
const { PACKAGE, median } = require('./measure.js')

const PROGRAMS = 40
const LARGE_BYTES = 200e6
const LOOK_MS = 1000
const PROGRAM = `
  const sort = () => Array.from({ length: 3000 }, (_, i) => Math.sin(i)).sort()
  const copy = () => JSON.parse(JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i }))))
  function work() {
    for (const end = Date.now() + 20; Date.now() < end; ) sort().concat(copy())
  }
  setInterval(work, Number(process.argv[1]))
  setTimeout(() => process.exit(), Number(process.argv[2]))
`

async function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  process.on('exit', () => fs.rmSync(dir, { recursive: true }))
  await lookAtMany(path.join(dir, 'many'), Number(process.argv[2] ?? 20))
  await lookAtLarge(dir)
}

/** @param {string} dir @param {number} looks */
async function lookAtMany(dir, looks) {
  const env = { ...process.env, CPU_PROF_DIR: dir }
  const args = ['--require', PACKAGE, '-e', PROGRAM]
  const programs = Array.from({ length: PROGRAMS }, (_, i) =>
    spawn(process.execPath, [...args, String(200 + 13 * i), '1e9'], { env, stdio: 'ignore' }),
  )
  await pause(10 * LOOK_MS)
  const follower = new Follower([dir])
  await follower.look()
  const costs = []
  let samples = 0
  for (let look = 0; look < looks; look++) {
    await pause(LOOK_MS)
    const before = process.cpuUsage()
    const { processes } = await follower.look()
    costs.push(cpuMs(before))
    samples = processes.reduce((sum, { threads }) => sum + threads[0].samples, 0)
  }
  for (const program of programs) program.kill()
  const cost = median(costs)
  console.log(`${PROGRAMS} programs, ${samples} samples in ten seconds, a look each second:`)
  console.log(`${cost.toFixed(1)} ms a look, ${((100 * cost) / LOOK_MS).toFixed(1)} % of a core`)
}

/** @param {string} dir */
async function lookAtLarge(dir) {
  const env = { ...process.env, CPU_PROF_DIR: path.join(dir, 'one') }
  spawnSync(process.execPath, ['--require', PACKAGE, '-e', PROGRAM, '5', '5000'], { env })
  const [name] = fs.readdirSync(env.CPU_PROF_DIR)
  const file = path.join(dir, 'large.trace.json')
  repeat(path.join(env.CPU_PROF_DIR, name), file)
  const before = process.cpuUsage()
  const start = performance.now()
  const { toMs, functions } = await new Follower([file]).look()
  const ms = performance.now() - start
  const hours = (toMs / 3_600_000).toFixed(1)
  console.log(`first look at 200 MB (${hours} h of one thread, ${functions.length} functions):`)
  console.log(`${ms.toFixed(0)} ms, ${cpuMs(before).toFixed(0)} ms of CPU time`)
  console.log(`${(process.resourceUsage().maxRSS / 1000).toFixed(0)} MB of peak memory in all`)
}

/** Writes a recording whose windows repeat those of another. @param {string} from @param {string} to */
function repeat(from, to) {
  const lines = fs.readFileSync(from, 'latin1').split('\n')
  const first = lines.findIndex((line) => line.includes('"name":"ProfileChunk"'))
  const windows = lines.slice(first, -1).filter((line) => !line.includes('"name":"trace.end"'))
  const timeOf = (/** @type {string} */ line) => Number(/"ts":(\d+)/.exec(line)?.[1])
  const lengthUs = timeOf(windows[windows.length - 1]) - timeOf(lines[first - 1])
  const later = (/** @type {string} */ line, /** @type {number} */ us) =>
    line.replace(/"ts":(\d+)/, (_, ts) => `"ts":${Number(ts) + us}`)
  const fd = fs.openSync(to, 'w')
  let bytes = fs.writeSync(fd, `${lines.slice(0, first).join('\n')}\n`)
  for (let round = 0; bytes < LARGE_BYTES; round++) {
    const again = windows.map((line) => {
      const known = round === 0 ? line : line.replace(/"nodes":\[.*?\],"samples"/, '"samples"')
      return later(known.replace(/,?$/, ','), round * lengthUs)
    })
    bytes += fs.writeSync(fd, `${again.join('\n')}\n`)
  }
  fs.writeSync(fd, ']}')
  fs.closeSync(fd)
}

/** @param {NodeJS.CpuUsage} before */
function cpuMs(before) {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

main()
