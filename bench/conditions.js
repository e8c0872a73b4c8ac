'use strict'

// Measures the thread that watches conditions in an idle process and in a busy one: its share of a core,
// and how often it wakes. node bench/conditions.js [seconds] [condition …]. Linux only.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: wait } = require('node:timers/promises')
const { PACKAGE } = require('./measure.js')

const seconds = Number(process.argv[2] ?? 60)
const given = process.argv.slice(3)
const lists =
  given.length > 0
    ? given
    : ['stall>100ms', 'stall>500ms', 'cpu>90%/10s', 'elu>0.9/10s', 'rss>100G', 'signal:SIGUSR2']

/** Programs whose conditions are never met. */
const PROGRAMS = {
  idle: 'setInterval(() => {}, 1000)',
  busy: 'setInterval(() => { for (const end = Date.now() + 3; Date.now() < end; ); }, 10)',
}

/** Reads the counters of the watching thread. @param {number | undefined} pid */
function readWatcher(pid) {
  const folder = `/proc/${pid}/task`
  for (const thread of fs.readdirSync(folder)) {
    const read = (/** @type {string} */ file) =>
      fs.readFileSync(`${folder}/${thread}/${file}`, 'utf8')
    if (read('comm').trim() !== 'cpu-prof-watch') continue
    const [cpuNs] = read('schedstat').split(' ').map(Number)
    const switches = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(read('status'))
    return { cpuNs, switches: Number(switches?.[1]) }
  }
  throw new Error('no thread watches')
}

/** @param {string} program @param {string} conditions */
async function measure(program, conditions) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-bench-'))
  const child = spawn(process.execPath, ['--require', PACKAGE, '-e', program], {
    env: { ...process.env, CPU_PROF_START: conditions, CPU_PROF_SOCKET: 'off', CPU_PROF_DIR: dir },
    stdio: 'inherit',
  })
  // The start of the program is over.
  await wait(2000)
  const [before, from] = [readWatcher(child.pid), performance.now()]
  await wait(seconds * 1000)
  const [after, ms] = [readWatcher(child.pid), performance.now() - from]
  child.kill()
  await once(child, 'close')
  const recordings = fs.readdirSync(dir).length
  fs.rmSync(dir, { recursive: true })
  if (recordings > 0) throw new Error(`${conditions} was met`)
  return {
    'share of a core': `${((after.cpuNs - before.cpuNs) / ms / 1e4).toFixed(4)} %`,
    'wake-ups a second': ((1000 * (after.switches - before.switches)) / ms).toFixed(1),
  }
}

async function main() {
  /** @type {Record<string, object>} */
  const rows = {}
  const cases = lists.flatMap((conditions) =>
    Object.entries(PROGRAMS).map(([name, program]) => ({ conditions, name, program })),
  )
  for (const { conditions, name, program } of cases)
    rows[`${conditions}, ${name}`] = await measure(program, conditions)
  console.table(rows)
}

main()
