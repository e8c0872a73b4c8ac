'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, textFrom } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/run.js')

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Counts its signals, and ends 500 ms after the last signal. */
const COUNTING = `
  let count = 0
  let timer = setInterval(() => {}, 1000)
  const onSignal = (signal) => {
    clearTimeout(timer)
    timer = setTimeout(() => process.exit(7), 500)
    console.log('got ' + signal + ' ' + ++count)
  }
  for (const signal of ${JSON.stringify(SIGNALS)}) process.on(signal, onSignal)
  console.log('ready')`

/** Writes a program into a new folder and returns the arguments to run it. @param {string} source */
function program(source) {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'main.js'), source)
  return { cwd, args: ['run', '-q', '--no-merge', process.execPath, 'main.js'] }
}

for (const signal of SIGNALS) {
  test(`${signal} is forwarded once without a terminal`, async () => {
    const { cwd, args } = program(COUNTING)
    const result = await cli(args, {
      cwd,
      detached: true,
      during: async (child) => {
        await textFrom(child.stdout, 'ready')
        child.kill(signal)
      },
    })
    assert.equal(result.stdout, `ready\ngot ${signal} 1\n`)
    assert.equal(result.code, 7)
  })
}

const hasScript = spawnSync('script', ['--version']).status === 0

// The command runs in the foreground of a new terminal, without a parent shell. A shell that waits
// there gets the Ctrl-C too, and dash then exits with 130 whatever the command's exit code.
const IN_TERMINAL = ['sh', '-c', 'exec script -q -e -c "exec $*" /dev/null', 'sh']

for (const [key, character, signal] of [
  ['Ctrl-C', '\x03', 'SIGINT'],
  ['Ctrl-\\', '\x1c', 'SIGQUIT'],
]) {
  test(`${key} in a terminal reaches the command once`, { skip: !hasScript }, async () => {
    const { cwd, args } = program(COUNTING)
    const result = await cli(args, {
      cwd,
      under: IN_TERMINAL,
      during: async (child) => {
        await textFrom(child.stdout, 'ready')
        child.stdin?.write(character)
      },
    })
    assert.match(result.stdout, new RegExp(`got ${signal} 1\r\n$`))
    assert.equal(result.code, 7)
  })
}

for (const signal of /** @type {NodeJS.Signals[]} */ ([
  'SIGTERM',
  'SIGINT',
  'SIGKILL',
  'SIGABRT',
  'SIGQUIT',
  'SIGUSR2',
])) {
  test(`run ends with ${signal} when the command does`, async () => {
    const { cwd, args } = program(
      `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1e3)`,
    )
    const result = await cli(args, { cwd })
    assert.equal(result.signal, signal)
    assert.equal(result.stderr, '')
  })
}

test('a signal sent only to run ends the command, and its recordings are kept', async () => {
  const { cwd, args } = program('setInterval(() => {}, 1e3); console.log("ready")')
  const result = await cli(['run', '--no-merge', ...args.slice(3)], {
    cwd,
    detached: true,
    during: async (child) => {
      await textFrom(child.stdout, 'ready')
      child.kill('SIGTERM')
    },
  })
  assert.equal(result.signal, 'SIGTERM')
  assert.match(result.stderr, /^cpu-prof: 1 recording in /)
})
