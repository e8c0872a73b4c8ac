'use strict'

// Controls an armed program by the command line: `node control.js <preload> <cpu-prof.js> <dir> [node]`.
// Prints what each command said, as JSON. On the machine itself, since only there are its pipes.

const { execFile, spawn } = require('node:child_process')
const path = require('node:path')

const [, , preload, cli, dir, node = process.execPath] = process.argv

/** Runs a command of the command line. @param {...string} args */
function command(...args) {
  return new Promise((resolve) => {
    execFile(node, [cli, ...args], (error, stdout, stderr) => {
      resolve({ status: error?.code ?? 0, stdout, stderr })
    })
  })
}

async function main() {
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require "${preload}"`,
    CPU_PROF_START: 'off',
  }
  const stdio = /** @type {const} */ (['ignore', 'inherit', 'inherit', 'ipc'])
  const child = spawn(node, [path.join(__dirname, 'main.js'), 'controlled'], { env, stdio })
  await new Promise((resolve) => child.once('message', resolve))
  const pid = String(child.pid)
  const said = {
    pid,
    ps: await command('ps', '--json'),
    start: await command('start', pid, '--dir', dir),
    again: await Promise.all([command('start', pid), command('status', pid)]),
    stop: await command('stop', pid, '--json'),
    record: await command('record', pid, '--for', '2s', '-o', 'recorded.json'),
  }
  child.disconnect()
  await new Promise((resolve) => child.once('exit', resolve))
  console.log(JSON.stringify({ ...said, after: await command('ps', '--json') }))
}

main()
