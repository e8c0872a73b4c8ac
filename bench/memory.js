'use strict'

// Measures the resident memory of a program that is recorded for minutes at 100 µs, beside the same
// program without a profiler. Usage: node bench/memory.js [minutes]. Linux only.

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { median } = require('./measure.js')

const minutes = Number(process.argv[2] ?? 11)

/**
 * Runs steady.js and reads its memory every second.
 * @param {string[]} nodeArgs @param {NodeJS.ProcessEnv} env @returns median MB of each minute
 */
async function residentByMinute(nodeArgs, env) {
  const steady = [path.join(__dirname, 'steady.js'), String(minutes)]
  const child = spawn(process.execPath, [...nodeArgs, ...steady], { env, stdio: 'ignore' })
  /** @type {number[][]} */
  const byMinute = []
  const start = Date.now()
  const timer = setInterval(() => {
    const minute = Math.floor((Date.now() - start) / 60_000)
    const status = fs.readFileSync(`/proc/${child.pid}/status`, 'utf8')
    byMinute[minute] ??= []
    byMinute[minute].push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
  }, 1000)
  await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(timer)
  return byMinute.slice(0, minutes).map(median)
}

async function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  const env = { ...process.env, CPU_PROF_DIR: dir, CPU_PROF_INTERVAL: '100' }
  const [without, recorded] = await Promise.all([
    residentByMinute([], process.env),
    residentByMinute(['--require', path.join(__dirname, '..')], env),
  ])
  console.log(`resident memory on ${process.version} at 100 µs`)
  for (const [minute, mb] of recorded.entries()) {
    console.log(
      `minute ${minute + 1}: ${mb.toFixed(1)} MB, without cpu-prof ${without[minute].toFixed(1)} MB`,
    )
  }
  const growth = (/** @type {number[]} */ mb) => (100 * (mb[mb.length - 1] / mb[1] - 1)).toFixed(1)
  console.log(
    `growth after the first minute: ${growth(recorded)} %, without cpu-prof ${growth(without)} %`,
  )
  fs.rmSync(dir, { recursive: true })
}

main()
