'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, textFrom } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Prints its signals, and ends a while after the last of those expected; at once on any other. @param {NodeJS.Signals[]} expected */
const counting = (expected) => `
  const expected = ${JSON.stringify(expected)}
  const seen = []
  setTimeout(() => process.exit(9), 60_000)
  const onSignal = (signal) => {
    seen.push(signal)
    console.log('got ' + seen.join())
    if (signal !== expected[seen.length - 1]) process.exit(8)
    if (seen.length === expected.length) setTimeout(() => process.exit(7), 500)
  }
  for (const signal of ${JSON.stringify(SIGNALS)}) process.on(signal, onSignal)
  console.log('ready')`

/** Writes a program into a new folder and returns the arguments to run it. @param {string} source */
function program(source) {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'main.js'), source)
  return { cwd, args: ['run', '-q', '--no-merge', process.execPath, 'main.js'] }
}

/**
 * Runs a program that prints its signals, and sends the next signal once the last has arrived: one that
 * came twice would come before the next. Returns what the program printed.
 * @param {NodeJS.Signals[]} signals
 * @param {(child: import('node:child_process').ChildProcess, signal: NodeJS.Signals) => void} send
 * @param {Parameters<typeof cli>[1]} options
 */
async function sendEach(signals, send, options) {
  const { cwd, args } = program(counting(signals))
  return cli(args, {
    ...options,
    cwd,
    during: async (child) => {
      await textFrom(child.stdout, 'ready')
      for (const [index, signal] of signals.entries()) {
        const arrived = textFrom(child.stdout, `got ${signals.slice(0, index + 1).join()}`)
        send(child, signal)
        await arrived
      }
    },
  })
}

/** @param {NodeJS.Signals[]} signals */
const lines = (signals) => signals.map((_, index) => `got ${signals.slice(0, index + 1).join()}`)

test('each signal is forwarded once without a terminal', async () => {
  const result = await sendEach(SIGNALS, (child, signal) => child.kill(signal), { detached: true })
  assert.deepEqual(result.stdout.trim().split('\n'), ['ready', ...lines(SIGNALS)])
  assert.equal(result.code, 7)
})

const hasScript = spawnSync('script', ['--version']).status === 0

// The command runs in the foreground of a new terminal, without a parent shell. A shell that waits
// there gets the Ctrl-C too, and dash then exits with 130 whatever the command's exit code.
const IN_SCRIPT = 'SHELL=$BASH exec script -q -e -c "exec $(printf "%q " "$@")" /dev/null'
const IN_TERMINAL = ['bash', '-c', IN_SCRIPT, 'bash']

/** What a terminal turns into signals. @type {Record<string, string>} */
const KEYS = { SIGINT: '\x03', SIGQUIT: '\x1c' }

test('Ctrl-C and Ctrl-\\ in a terminal reach the command once', { skip: !hasScript }, async () => {
  const signals = /** @type {NodeJS.Signals[]} */ (Object.keys(KEYS))
  const result = await sendEach(signals, (child, signal) => child.stdin?.write(KEYS[signal]), {
    under: IN_TERMINAL,
  })
  const printed = result.stdout.split('\r\n').filter((line) => line.includes('got '))
  // The terminal shows the keys too.
  assert.deepEqual(
    printed.map((line) => line.slice(line.indexOf('got '))),
    lines(signals),
  )
  assert.equal(result.code, 7)
})

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
