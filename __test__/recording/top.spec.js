'use strict'

// `cpu-prof top` watches processes while they run: on a screen, and as lines.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, unread } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { cleanEnv, message, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const { inTerminal, NO_TERMINAL } = require('../helpers/terminal.js')
const { until } = require('../helpers/until.js')

const ON_LINUX = process.platform === 'linux' ? false : 'only Linux tells the files of a process'
const MAIN = path.join(FIXTURES, 'sleeper.js')

/**
 * Starts a recorded program that works when it is told, and waits for the first work to be done.
 * @param {import('node:test').TestContext} t @param {{ env?: Record<string, string>, args?: string[] }} [options]
 */
async function startWorking(t, { env = {}, args = ['main'] } = {}) {
  const cwd = temporaryDirectory()
  const child = spawn(process.execPath, ['--require', PACKAGE, MAIN, ...args], {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const ask = (/** @type {string} */ command) => {
    const answer = message(child)
    child.send(command)
    return answer
  }
  await message(child)
  await ask('work')
  return { child, cwd, ask, pid: Number(child.pid) }
}

/** Returns what `top --count 1` prints until it shows something: a look can come before a flush. @param {string[]} args @param {RegExp} what */
async function lookUntil(args, what) {
  for (let looks = 0; looks < 30; looks++) {
    const { code, stdout, stderr } = await cli(['top', '--seconds', '60', '--count', '1', ...args])
    assert.equal(code, 0, stderr)
    if (what.test(stdout)) return stdout
  }
  assert.fail(`top never shows ${what}`)
}

test('a process is watched by its pid, with its workers', { skip: ON_LINUX }, async (t) => {
  const { pid } = await startWorking(t)
  const shown = await lookUntil([String(pid)], /% {2}\w*spin\b|burn/)
  assert.match(shown, new RegExp(`^cpu-prof top · process ${pid} `))
  assert.match(shown, /\n1 process, 1 thread · /)
  const worker = await startWorking(t, { args: ['worker'] })
  const threads = await lookUntil([String(worker.pid), '--by', 'thread'], /worker 1: sleeper\.js/)
  assert.match(threads, /\n1 process, 2 threads · /)
})

test('children belong to a process on request', { skip: ON_LINUX }, async (t) => {
  const cwd = temporaryDirectory()
  // Not recorded itself.
  const parent = spawn(
    process.execPath,
    [
      '-e',
      `
      const { fork } = require('node:child_process')
      const child = fork(process.argv[1], ['main'], { execArgv: ['--require', process.argv[2]] })
      child.on('message', (message) => process.send(message))
      process.on('message', (message) => child.send(message))
      process.on('disconnect', () => process.exit())
    `,
      MAIN,
      PACKAGE,
    ],
    { cwd, env: cleanEnv(), stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  )
  t.after(() => parent.kill('SIGKILL'))
  await message(parent)
  const done = message(parent)
  parent.send('work')
  await done
  const { code, stderr } = await cli(['top', String(parent.pid), '--count', '1'])
  assert.equal(code, 1)
  assert.match(stderr, /is not recorded, .*--tree/)
  await lookUntil([String(parent.pid), '--tree'], /spin|burn/)
})

test('an armed process that does not record is told how to start', {
  skip: ON_LINUX,
}, async (t) => {
  const sockets = temporaryDirectory('s-')
  fs.chmodSync(sockets, 0o700)
  const env = { CPU_PROF_START: 'off', CPU_PROF_SOCKET: sockets }
  const { pid } = await startWorking(t, { env })
  const { code, stderr } = await cli(['top', String(pid), '--count', '1'], { env })
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`process ${pid} is armed.*cpu-prof start ${pid}`))
})

test('lines end when the recordings end, also by a kill', async (t) => {
  const { child, cwd } = await startWorking(t)
  let shown = ''
  const ended = await cli(['top', '.', '--seconds', '60'], {
    cwd,
    during(top) {
      top.stdin?.end()
      top.stdout?.on('data', (data) => {
        shown += data
        if (/spin|burn/.test(shown)) child.kill('SIGKILL')
      })
    },
  })
  assert.equal(ended.code, 0, ended.stderr)
  assert.match(ended.stdout, pattern`\n${messages.haveEnded}.*\n`)
  assert.match(ended.stdout, /spin|burn/)
})

test('lines end when nobody reads them', async (t) => {
  const { cwd } = await startWorking(t)
  const { code, stderr } = await cli(['top', '.'], { cwd, during: unread('stdout') })
  assert.deepEqual([code, stderr], [0, ''])
})

test('the run that goes on is watched without words', async () => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'work.js')
  fs.writeFileSync(
    file,
    `
    const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
    const fs = require('node:fs')
    function loop() {
      spin(50)
      if (!fs.existsSync('stop')) setTimeout(loop)
    }
    loop()
  `,
  )
  const run = cli(['run', '--quiet', '--', 'node', 'work.js'], { cwd })
  const stop = () => fs.writeFileSync(path.join(cwd, 'stop'), '')
  try {
    let shown = ''
    for (let looks = 0; looks < 60 && !/ loop /.test(shown); looks++) {
      const { stdout } = await cli(['top', '--count', '1', '--sort', 'total'], { cwd })
      shown = stdout
    }
    assert.match(shown, /^cpu-prof top · node work\.js /)
    assert.match(shown, / loop /)
  } finally {
    stop()
    await run
  }
})

test('a screen shows what runs, obeys keys, and gives the terminal back', {
  skip: NO_TERMINAL,
}, async (t) => {
  const { ask, cwd, child } = await startWorking(t)
  const { screen, press, shows, ended } = inTerminal(['top', '--seconds', '60', '.'], { cwd })
  // The callers of what works can be below the end of the screen.
  await shows(/% .* burn /)
  assert.equal(screen.lines.length, 24)
  assert.ok(screen.isOther && !screen.hasCursor)
  press('t')
  await shows(/ \d+ sleeper\.js main/)
  press('p')
  await shows(/\(own code\)/)
  press('?')
  await shows(/Any key closes/)
  press('x')
  await shows(/ package /)
  press('f/burn\r')
  await shows(/only rows with "burn"/)
  // What is recorded meanwhile comes without a key.
  const before = screen.text.length
  await ask('work')
  await until(() => screen.text.length > before + 2000, 'the screen is never drawn again')
  child.kill('SIGKILL')
  await shows(pattern`${messages.haveEnded}`)
  press('q')
  await ended
  assert.ok(!screen.isOther && screen.hasCursor)
  assert.match(screen.text, /code=0/)
  assert.match(screen.text, / icanon .* echo /)
})

// A shell that waits for a program ends with it on SIGINT.
for (const [end, code] of /** @type {const} */ ([
  ['Ctrl-C', 0],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])) {
  test(`${end} gives the terminal back`, { skip: NO_TERMINAL }, async (t) => {
    const { cwd } = await startWorking(t)
    const { screen, press, shows, pid, ended } = inTerminal(['top', '.'], { cwd })
    await shows(/ process.* thread/)
    if (end === 'Ctrl-C') press('\x03')
    else process.kill(pid(), end)
    await ended
    assert.ok(!screen.isOther && screen.hasCursor)
    assert.match(screen.text, new RegExp(`code=${code}\\D`))
    assert.match(screen.text, / icanon .* echo /)
  })
}

test('a terminal that shows no screens gets lines', { skip: NO_TERMINAL }, async (t) => {
  const { cwd, child } = await startWorking(t)
  const { screen, ended } = inTerminal(['top', '.'], { cwd, env: { TERM: 'dumb' } })
  await until(() => / process.* thread/.test(screen.text))
  child.kill('SIGKILL')
  await ended
  assert.ok(!screen.text.includes('\x1b[?1049h'))
  assert.match(screen.text, /code=0/)
})
