'use strict'

// Runs other people's programs without and with `cpu-prof run`, and compares what they do:
// `node scripts/programs.js [--markdown] [--keep] [names…]`.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { compare } = require('./programs/compare.js')
const { PROGRAMS } = require('./programs/programs.js')
const sandbox = require('./programs/sandbox.js')
const { runSession } = require('./programs/session.js')
const { formatTable } = require('./programs/table.js')

const BIN = path.join(__dirname, '..', 'bin', 'cpu-prof.js')

const { values: options, positionals: names } = parseArgs({
  options: { markdown: { type: 'boolean' }, keep: { type: 'boolean' } },
  allowPositionals: true,
})

/** @typedef {import('./programs/programs.js').Program} Program */

async function main() {
  const unknown = names.filter((name) => !PROGRAMS.some((program) => program.name === name))
  if (unknown.length > 0) {
    console.error(
      `unknown: ${unknown.join(', ')}\nknown: ${PROGRAMS.map(({ name }) => name).join(', ')}`,
    )
    process.exitCode = 2
    return
  }
  const rows = []
  for (const program of PROGRAMS) {
    if (names.length === 0 || names.includes(program.name)) rows.push(await test(program))
  }
  console.log(formatTable(rows, options.markdown ?? false))
  if (rows.some(({ problems }) => problems.length > 0)) process.exitCode = 1
}

/** @param {Program} program @returns {Promise<import('./programs/compare.js').Row>} */
async function test(program) {
  process.stderr.write(`${program.name} … `)
  let row
  try {
    row = await runBoth(program)
  } catch (error) {
    row = notRun(program, error)
  }
  process.stderr.write(row.problems.length === 0 ? 'ok\n' : `failed\n${row.problems.join('\n')}\n`)
  return row
}

/** @param {Program} program */
async function runBoth(program) {
  const folders = sandbox.createSandbox(program)
  const { dir, project: cwd } = folders
  const env = sandbox.environment(folders, program.env)
  const { steps, stop } = program
  const run = async (/** @type {string[]} */ prefix) => {
    sandbox.resetProject(folders)
    const command = [...prefix, ...program.command]
    const outcome = await runSession(command, { dir, cwd, env, steps, stop })
    return { ...outcome, changes: sandbox.changes(folders) }
  }
  const plain = await run([])
  const before = startTime()
  const profiled = await run([process.execPath, BIN, 'run', '--quiet', '--'])
  const startMs = Math.max(before, startTime())
  const row = compare(program, plain, profiled, { pids: pidsInTrace(cwd), runner: BIN, startMs })
  if (!options.keep) sandbox.remove(dir)
  return row
}

/** Returns how long a Node takes at the moment, in milliseconds: the slowest of three. */
function startTime() {
  const times = [1, 2, 3].map(() => {
    const start = performance.now()
    execFileSync(process.execPath, ['-e', '0'])
    return performance.now() - start
  })
  return Math.max(...times)
}

/** Returns the processes in the traces of a project. @param {string} project */
function pidsInTrace(project) {
  const folder = path.join(project, 'profiles')
  if (!fs.existsSync(folder)) return new Set()
  const json = execFileSync(process.execPath, [BIN, 'report', folder, '--json'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const { processes } = JSON.parse(json)
  return new Set(processes.map((/** @type {{ pid: number }} */ { pid }) => pid))
}

/** Returns the row of a program that could not be tested. @param {Program} program @param {unknown} error @returns {import('./programs/compare.js').Row} */
function notRun({ name, version }, error) {
  const { stack, message } = /** @type {Error} */ (error)
  const remark = `not tested: ${message.split('\n', 1)[0]}`
  const none = { recorded: 0, seen: 0, sameOutput: false, sameExit: false, clean: false }
  return { name, version, ...none, remark, problems: [String(stack)] }
}

process.on('exit', () => {
  if (options.keep) console.error(`kept: ${sandbox.ROOT}`)
  else sandbox.remove(sandbox.ROOT)
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
main()
