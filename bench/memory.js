'use strict'

// Resident memory of a program that runs for minutes at 100 µs: it must not grow after the first
// one. Usage: node bench/memory.js [minutes]

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { median } = require('./measure.js')

const minutes = Number(process.argv[2] ?? 10)

async function main() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  const child = spawn(
    process.execPath,
    ['--require', path.join(__dirname, '..'), path.join(__dirname, 'steady.js'), String(minutes)],
    {
      env: { ...process.env, CPU_PROF_DIR: dir, CPU_PROF_INTERVAL: '100' },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
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
  const medians = byMinute.slice(0, minutes).map(median)
  for (const [minute, rss] of medians.entries()) {
    console.log(`minute ${minute + 1}: ${rss.toFixed(1)} MB`)
  }
  const growth = medians[medians.length - 1] / medians[1] - 1
  const [file] = fs.readdirSync(dir)
  const sizeMb = fs.statSync(path.join(dir, file)).size / 1e6
  console.log(
    `after the first minute: ${(growth * 100).toFixed(1)} %; trace ${sizeMb.toFixed(0)} MB`,
  )
  fs.rmSync(dir, { recursive: true })
}

main()
