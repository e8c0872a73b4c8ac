'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, said } = require('./helpers/cli.js')
const { temporaryDirectory } = require('./helpers/run.js')

/** @type {NodeJS.Signals[]} */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM']

/** Says how many signals it got, and ends a good while after the last. */
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

/** A program to be run in a folder of its own. @param {string} source */
function program(source) {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'main.js'), source)
  return { cwd, args: ['run', '-q', '--no-merge', process.execPath, 'main.js'] }
}

for (const signal of SIGNALS) {
  test(`${signal} is forwarded once where there is no terminal`, async () => {
    const { cwd, args } = program(COUNTING)
    const result = await cli(args, {
      cwd,
      detached: true,
      during: async (child) => {
        await said(child.stdout, 'ready')
        child.kill(signal)
      },
    })
    assert.equal(result.stdout, `ready\ngot ${signal} 1\n`)
    assert.equal(result.code, 7)
  })
}

const hasScript = spawnSync('script', ['--version']).status === 0

// What it runs is in the foreground of a terminal of its own, without a shell above it: one that
// waits there gets the Ctrl-C too, and dash then says 130, whatever the command's own exit code.
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
        await said(child.stdout, 'ready')
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
  test(`a command that dies of ${signal} is followed`, async () => {
    const { cwd, args } = program(
      `process.kill(process.pid, '${signal}'); setInterval(() => {}, 1e3)`,
    )
    const result = await cli(args, { cwd })
    assert.equal(result.signal, signal)
    assert.equal(result.stderr, '')
  })
}

test('a signal to the command line alone ends the command, and what it ran is kept', async () => {
  const { cwd, args } = program('setInterval(() => {}, 1e3); console.log("ready")')
  const result = await cli(['run', '--no-merge', ...args.slice(3)], {
    cwd,
    detached: true,
    during: async (child) => {
      await said(child.stdout, 'ready')
      child.kill('SIGTERM')
    },
  })
  assert.equal(result.signal, 'SIGTERM')
  assert.match(result.stderr, /^cpu-prof: 1 recording in /)
})
