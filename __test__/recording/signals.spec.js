'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  preloadable,
  run,
  message,
  temporaryDirectory,
  tracesIn,
  FIXTURES,
  PACKAGE,
} = require('../helpers/run.js')
const { isInspector, NEEDS_WAKE_UP } = require('../helpers/source.js')
const { until } = require('../helpers/until.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const EXAMPLES = path.join(PACKAGE, 'target', 'debug', 'examples')
// No window is written before the signal, so all samples come from the last windows.
const LATE = { CPU_PROF_FLUSH_INTERVAL: '60000' }

/** @typedef {import('node:child_process').ChildProcess} Child */

/**
 * Runs `source` without and with the profiler at the same time, sends `signals` after its first message,
 * and checks that output and exit status are the same.
 * @param {string} source
 * @param {NodeJS.Signals[]} signals
 * @param {object} [options]
 * @param {Record<string, string>} [options.env]
 * @param {(child: Child, dir: string, isRecorded: boolean) => Promise<void>} [options.before] comes
 *   before the signals
 */
async function compare(source, signals, { env = LATE, before = async () => {} } = {}) {
  const send = async (
    /** @type {Child} */ child,
    /** @type {string} */ dir,
    isRecorded = false,
  ) => {
    try {
      await message(child)
      await before(child, dir, isRecorded)
      for (const signal of signals) child.kill(signal)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }
  const [plain, result] = await Promise.all([
    run(['-e', source], { during: (child, dir) => send(child, dir), preload: null }),
    run(['-e', source], { during: (child, dir) => send(child, dir, true), env }),
  ])
  for (const key of /** @type {const} */ (['code', 'signal', 'stdout', 'stderr'])) {
    assert.equal(result[key], plain[key], key)
  }
  return result
}

/** Returns how often a text is in the only trace so far. @param {string} dir @param {string} text */
function countIn(dir, text) {
  const [file] = tracesIn(dir)
  return file === undefined ? 0 : fs.readFileSync(file, 'utf8').split(text).length - 1
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  test(`a program without a listener dies of ${signal}, and its last window is written`, async () => {
    const result = await compare(
      `require(${SPIN}).spin(); process.send(0); setInterval(() => {}, 1e6)`,
      [signal],
    )
    assert.equal(result.signal, signal)
    assert.ok(result.traces[0].ended)
    if (!isInspector) assertSeen(result.traces[0], 'spin')
  })

  test(`a program's own ${signal} listener is called once, and decides how the program ends`, async () => {
    const result = await compare(
      `process.on('${signal}', () => {
         console.log('heard', process.listenerCount('${signal}'))
         setTimeout(() => process.exit(5), 100)
       })
       process.send(0)
       setInterval(() => {}, 1e6)`,
      [signal],
    )
    assert.equal(result.stdout, 'heard 1\n')
    assert.equal(result.code, 5)
    assert.ok(result.traces[0].ended)
  })
}

test('a program that listens just in time is recorded on, in the same files', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  // The handler of the profiler gets the signal, and the listener too: as every listener on Windows.
  const source = `
    const { spawnSync } = require('node:child_process')
    const { spin } = require(${SPIN})
    function before() { return spin() }
    function after() { return spin(1600) }
    before()
    spawnSync('sh', ['-c', 'kill -TERM ' + process.pid])
    process.on('SIGTERM', () => console.log('heard'))
    setTimeout(() => { after(); process.exit(3) }, 50)`
  const env = { CPU_PROF_FORMAT: 'trace,cpuprofile' }
  const { code, signal, stdout, stderr, traces } = await run(['-e', source], { env })
  assert.deepEqual([code, signal, stdout, stderr], [3, null, 'heard\n', ''])
  assert.equal(traces.length, 1)
  for (const name of ['before', 'after']) assertSeen(traces[0], name)
  const { file } = traces[0]
  const text = fs.readFileSync(file, 'utf8')
  assert.equal(text.split('"trace.end"').length - 1, 1)
  assert.match(text, /"exitCode":3 *}/)
  // Written twice, to one file.
  const profiles = fs.readdirSync(path.dirname(file)).filter((name) => name.endsWith('.cpuprofile'))
  assert.equal(profiles.length, 1)
  const profile = fs.readFileSync(path.join(path.dirname(file), profiles[0]), 'utf8')
  assert.match(profile, /"functionName":"after"/)
})

test('the last window of every thread is written, busy or idle', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const file = path.join(temporaryDirectory(), 'main.js')
  fs.writeFileSync(
    file,
    `const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads')
     const { spin } = require(${SPIN})
     spin()
     if (isMainThread) {
       let ready = 0
       for (const busy of [true, true, false]) {
         new Worker(__filename, { workerData: busy }).on('message', () => {
           if (++ready === 3) process.send(0)
         })
       }
     } else {
       parentPort.postMessage(0)
       if (workerData) spin(1e9)
       else setInterval(() => {}, 1e6)
     }`,
  )
  const { traces, signal } = await run([file], {
    env: LATE,
    during: (child) => child.once('message', () => child.kill('SIGTERM')),
  })
  assert.equal(signal, 'SIGTERM')
  assert.equal(traces.length, 4)
  for (const trace of traces) {
    assert.ok(trace.ended, trace.label)
    assertSeen(trace, 'spin')
  }
})

test('after a listener is removed, a signal ends the program with a finished trace', async () => {
  // The profiler looks at the actions of signals in each window: when there is a listener, and later.
  const LOOKS = 2
  const looked = async (/** @type {string} */ dir, /** @type {boolean} */ isRecorded) => {
    const flushes = () => countIn(dir, '"thread.flush"')
    const before = flushes()
    if (isRecorded) await until(() => flushes() >= before + LOOKS)
  }
  const result = await compare(
    `const listener = () => {}
     process.on('SIGTERM', listener)
     process.send('listens')
     process.on('message', () => {
       process.off('SIGTERM', listener)
       process.send('listens no more')
     })
     const { spin } = require(${SPIN})
     const turn = () => { spin(20); setTimeout(turn, 5) }
     turn()`,
    ['SIGTERM'],
    {
      env: { CPU_PROF_FLUSH_INTERVAL: '300' },
      before: async (child, dir, isRecorded) => {
        await looked(dir, isRecorded)
        child.send('stop listening')
        await message(child)
        await looked(dir, isRecorded)
      },
    },
  )
  assert.equal(result.signal, 'SIGTERM')
  assert.ok(result.traces[0].ended)
})

test('a listener can send the signal again, as npm packages do', async () => {
  const result = await compare(
    `process.once('SIGINT', () => { console.log('heard'); process.kill(process.pid, 'SIGINT') })
     process.send(0)
     setInterval(() => {}, 1e6)`,
    ['SIGINT'],
  )
  assert.equal(result.stdout, 'heard\n')
  assert.equal(result.signal, 'SIGINT')
})

test('repeated and simultaneous signals end the program once', async () => {
  const source = `process.send(0); setInterval(() => {}, 1e6)`
  const twice = await compare(source, ['SIGTERM', 'SIGTERM', 'SIGTERM'])
  assert.equal(twice.signal, 'SIGTERM')
  assert.ok(twice.traces[0].ended)
  const { signal, traces } = await run(['-e', source], {
    during: (child) =>
      child.once('message', () => {
        child.kill('SIGTERM')
        child.kill('SIGINT')
      }),
  })
  assert.ok(signal === 'SIGTERM' || signal === 'SIGINT')
  assert.ok(traces[0].ended)
})

test('a program ends while its thread is still blocked in native code', async () => {
  // The thread stays blocked until the program has ended, for which the profiler waits a quarter of a
  // second. The limit is large so that no machine is too slow.
  const LIMIT_MS = 15_000
  const source = `
    require(${SPIN}).spin()
    process.send(0)
    process.on('message', () => {
      const wait = 'touch blocked; until [ -e released ]; do sleep 0.05; done'
      require('node:child_process').execFileSync('sh', ['-c', wait])
    })`
  const result = await compare(source, ['SIGTERM'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
    before: async (child, dir, isRecorded) => {
      if (isRecorded && !isInspector) await until(() => countIn(dir, '"spin"') > 0)
      child.send('block')
      await until(() => fs.existsSync(path.join(dir, 'blocked')))
      const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
      child.once('exit', () => {
        clearTimeout(limit)
        fs.writeFileSync(path.join(dir, 'released'), '')
      })
    },
  })
  assert.equal(result.signal, 'SIGTERM')
  if (!isInspector) assertSeen(result.traces[0], 'spin')
})

test('actions of signals are changed on the main thread only', async () => {
  // libuv changes them there too, and could be overwritten from another thread. The library reports
  // other threads on stderr.
  const env = { ...LATE, LD_PRELOAD: preloadable(path.join(EXAMPLES, 'libinterposed.so')) }
  for (const wait of ['setInterval(() => {}, 1e6)', `require(${SPIN}).spin(1e9)`]) {
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) {
      const result = await compare(`process.send(0, () => { ${wait} })`, [signal], { env })
      assert.equal(result.signal, signal)
      assert.equal(result.stderr, '')
    }
  }
})

test('a signal ends a program whose main thread blocks the signal', async () => {
  const source = `
    process.dlopen({ exports: {} }, ${JSON.stringify(path.join(EXAMPLES, 'libnative.so'))})
    require(${SPIN}).spin(20)
    process.send(0)
    setInterval(() => {}, 1e6)`
  for (const signals of /** @type {NodeJS.Signals[][]} */ ([['SIGTERM'], ['SIGTERM', 'SIGTERM']])) {
    const during = (/** @type {import('node:child_process').ChildProcess} */ child) =>
      child.once('message', () => {
        for (const signal of signals) child.kill(signal)
        // The program must have ended by itself long before.
        setTimeout(() => child.kill('SIGKILL'), 20_000).unref()
      })
    const options = { during, env: { NATIVE: 'block', ...LATE } }
    const plain = await run(['-e', source], { ...options, preload: null })
    assert.equal(plain.signal, 'SIGTERM')
    const result = await run(['-e', source], options)
    assert.equal(result.signal, 'SIGTERM')
    assert.equal(result.stderr, '')
    assert.ok(result.traces[0].ended)
  }
})

test('a signal wins over an exit() that another thread calls', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const library = JSON.stringify(path.join(EXAMPLES, 'libnative.so'))
  const { signal, stderr } = await run(['-e', `process.dlopen({ exports: {} }, ${library})`], {
    env: { NATIVE: 'exit' },
  })
  assert.equal(signal, 'SIGTERM')
  assert.equal(stderr, '')
})

test('an ignored signal stays ignored', async () => {
  const program = `process.kill(process.pid, 'SIGHUP'); setTimeout(() => console.log('lives'), 100)`
  const shell = `
    const { spawnSync } = require('node:child_process')
    const code = 'trap "" HUP; exec "$0" "$@"'
    const args = ['-c', code, process.execPath, ...process.execArgv.slice(0, -2), '-e', ${JSON.stringify(program)}]
    const { status, signal, stdout } = spawnSync('sh', args, { encoding: 'utf8' })
    console.log(status, signal, stdout)`
  const plain = await run(['-e', shell], { preload: null })
  const result = await run(['-e', shell])
  assert.equal(result.stdout, plain.stdout)
  assert.equal(result.traces.length, 2)
})

test('a signal during the exit listeners ends the program', async () => {
  const result = await compare(
    `process.on('exit', () => { process.send(0); require(${SPIN}).spin(1e9) })`,
    ['SIGTERM'],
  )
  assert.equal(result.signal, 'SIGTERM')
  assert.ok(result.traces[0].ended)
})

test('the terminal is reset as without the profiler', async (t) => {
  const { spawnSync } = require('node:child_process')
  if (spawnSync('script', ['--version']).status !== 0) return t.skip('there is no script(1)')
  const program = `
    process.stdin.setRawMode(true)
    setTimeout(() => process.kill(process.pid, 'SIGTERM'), 50)
    setInterval(() => {}, 1e6)`
  const file = path.join(temporaryDirectory(), 'raw.js')
  fs.writeFileSync(file, program)
  for (const preload of ['', `--require ${JSON.stringify(PACKAGE)}`]) {
    const command = `"${process.execPath}" ${preload} "${file}"; echo; stty -a`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: path.dirname(file),
      encoding: 'utf8',
    })
    assert.match(stdout, /[^-]icanon/, stdout)
    assert.match(stdout, /[^-]echo\b/, stdout)
  }
})
