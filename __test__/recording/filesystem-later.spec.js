'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const {
  run,
  temporaryDirectory,
  filesIn,
  tracesIn,
  readTrace,
  FIXTURES,
  PACKAGE,
} = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

// Changes to the file system and to descriptors while a program is recorded.

const FAST = { CPU_PROF_FLUSH_INTERVAL: '20' }
const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const LIB = JSON.stringify(path.join(PACKAGE, 'lib'))
const FEW_DESCRIPTORS = ['sh', '-c', 'ulimit -n 64\nexec "$@"', 'sh']
const EXHAUST = `
  const fs = require('node:fs')
  const open = []
  const exhaust = () => {
    try { for (;;) open.push(fs.openSync('/dev/null')) } catch (error) { return error.code }
  }`

test('missing directories are created', async () => {
  const dir = path.join(temporaryDirectory(), 'a', 'b')
  const { traces } = await run(['ending.js', 'natural', '10'], {
    env: { CPU_PROF_DIR: dir, CPU_PROF_NAME: 'c/%N' },
    cwd: temporaryDirectory(),
  })
  assert.deepEqual(traces, [])
  assert.deepEqual(fs.readdirSync(path.join(dir, 'c')), ['001.trace.json'])
})

const REMOVE = `require('node:fs').rmSync('profiles', { recursive: true, force: true })`

for (const [what, env] of Object.entries({
  'while the program works': FAST,
  'and the program ends': { CPU_PROF_FLUSH_INTERVAL: '60000' },
  'in a recording of segments': { ...FAST, CPU_PROF_KEEP: '1h' },
})) {
  test(`an output directory is removed ${what}: the whole trace is written again`, async () => {
    const source = `
      const { spin } = require(${SPIN})
      function before() { return spin() }
      function after() { return spin() }
      before()
      ${REMOVE}
      after()
      process.exitCode = 3
    `
    const { code, stderr, traces } = await runUnharmed(['-e', source], {
      env: { ...env, CPU_PROF_DIR: 'profiles' },
    })
    assert.equal(code, 3)
    assert.equal(stderr, '')
    assert.equal(traces.length, 1)
    assert.ok(traces[0].ended)
    for (const name of ['before', 'after']) assertSeen(traces[0], name)
  })
}

for (const [what, env] of Object.entries({
  'of a whole recording': FAST,
  'of a recording of segments': { ...FAST, CPU_PROF_KEEP: '1h' },
})) {
  test(`a trace ${what} that a log rotation copies and cuts off is begun anew, and one line says so`, {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const source = `
      const fs = require('node:fs')
      const { spin } = require(${SPIN})
      function before() { return spin() }
      function after() { return spin() }
      before()
      const [name] = fs.readdirSync('.').filter((name) => name.endsWith('.trace.json'))
      fs.copyFileSync(name, 'rotated.json')
      fs.truncateSync(name)
      after()
      process.exitCode = 3
    `
    const { code, stderr, traces, cwd } = await run(['-e', source], { env })
    assert.equal(code, 3)
    assert.match(stderr, /^cpu-prof: \S+ was cut off while it was written.*\n$/)
    assert.equal(traces.length, 1)
    assert.ok(traces[0].ended)
    assertSeen(traces[0], 'after')
    assertSeen(await readTrace(path.join(cwd, 'rotated.json')), 'before')
  })
}

test('a removed directory is created again for a .cpuprofile', async () => {
  const { code, stderr, cwd } = await runUnharmed(['-e', `${REMOVE}; process.exitCode = 3`], {
    env: { CPU_PROF_DIR: 'profiles', CPU_PROF_FORMAT: 'cpuprofile' },
  })
  assert.equal(code, 3)
  assert.equal(stderr, '')
  assert.equal(filesIn(path.join(cwd, 'profiles'), '.cpuprofile').length, 1)
})

test('a program that gives up its rights is recorded to the end, in its last segment', {
  skip: NEEDS_INTERRUPT || (process.getuid?.() !== 0 && 'only root can give up rights'),
}, async () => {
  const source = `
    const fs = require('node:fs')
    const { spin } = require(${SPIN})
    function after() {
      do spin()
      while (!fs.existsSync('told'))
    }
    fs.chmodSync('.', 0o755)
    process.setgid(65534)
    process.setuid(65534)
    after()
  `
  const { code, stderr, traces } = await run(['-e', source], {
    env: { ...FAST, CPU_PROF_KEEP: '2s' },
    during: (child, dir) => {
      child.stderr?.once('data', () => fs.writeFileSync(path.join(dir, 'told'), ''))
    },
  })
  assert.equal(code, 0)
  assert.match(
    stderr,
    pattern`^cpu-prof: ${messages.notCreated} .*; ${messages.goesOn} in the file before`,
  )
  const [last] = traces.sort((a, b) => b.metadata.segment - a.metadata.segment)
  assert.ok(last.ended)
  assertSeen(last, 'after')
})

test('a .cpuprofile of a program that gives up its rights is in the folder for temporary files', {
  skip: process.getuid?.() !== 0 && 'only root can give up rights',
}, async () => {
  const temporary = temporaryDirectory()
  fs.chmodSync(temporary, 0o777)
  const source = `
    const { spin } = require(${SPIN})
    function before() { spin() }
    before()
    require('node:fs').chmodSync('.', 0o755)
    process.setgid(65534)
    process.setuid(65534)
  `
  const { code, stderr, cwd } = await run(['-e', source], {
    env: { CPU_PROF_FORMAT: 'cpuprofile', TMPDIR: temporary },
  })
  assert.equal(code, 0)
  const [file, ...others] = filesIn(temporary, '.cpuprofile')
  assert.deepEqual([others, filesIn(cwd, '.cpuprofile')], [[], []])
  assert.match(
    stderr,
    pattern`^cpu-prof: ${messages.notCreated} .*denied.*; the profile is in .*\n$`,
  )
  assert.ok(stderr.includes(file))
  const { nodes } = JSON.parse(fs.readFileSync(file, 'utf8'))
  const names = nodes.map((/** @type {any} */ { callFrame }) => callFrame.functionName)
  assert.ok(names.includes('before'))
})

test('a file that takes the place of the output directory is left alone', async () => {
  const source = `${REMOVE}; require('node:fs').writeFileSync('profiles', 'mine'); process.exitCode = 3`
  const { code, complaint, cwd } = await runUnharmed(['-e', source], {
    env: { ...FAST, CPU_PROF_DIR: 'profiles/below' },
  })
  assert.equal(code, 3)
  assert.match(complaint, /profiles.* was removed, and could not be written again: /)
  assert.equal(fs.readFileSync(path.join(cwd, 'profiles'), 'utf8'), 'mine')
})

test('a file that takes the name of the trace is left alone', async () => {
  const source = `
    const fs = require('node:fs')
    const [name] = fs.readdirSync('profiles')
    fs.unlinkSync('profiles/' + name)
    fs.writeFileSync('profiles/' + name, '[]')
    require(${SPIN}).spin()
  `
  const { stderr, cwd } = await run(['-e', source], {
    env: { ...FAST, CPU_PROF_DIR: 'profiles' },
    read: 0,
  })
  assert.equal(stderr, '')
  const [mine, trace] = tracesIn(path.join(cwd, 'profiles'))
  assert.equal(fs.readFileSync(mine, 'utf8'), '[]')
  assertSeen(await readTrace(trace), 'spin')
})

test('a removed directory is created again for a worker', async () => {
  const source = `
    require('node:fs').rmSync('profiles', { recursive: true, force: true })
    new (require('node:worker_threads').Worker)('require(${SPIN}).spin(100)', { eval: true })
  `
  const { traces, stderr } = await runUnharmed(['-e', source], {
    env: { CPU_PROF_DIR: 'profiles' },
  })
  assert.equal(stderr, '')
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1],
  )
})

test('workers only lose their traces if a file replaces the output directory', async () => {
  const source = `
    const fs = require('node:fs')
    fs.rmSync('profiles', { recursive: true, force: true })
    fs.writeFileSync('profiles', '')
    const { Worker } = require('node:worker_threads')
    for (const exit of [1, 2]) {
      new Worker('process.exit(' + exit + ')', { eval: true }).on('exit', (code) => {
        process.exitCode = (process.exitCode ?? 0) + code
      })
    }
  `
  const cwd = temporaryDirectory()
  const result = await runUnharmed(['-e', source], {
    cwd,
    env: { CPU_PROF_DIR: 'profiles/below' },
  })
  assert.equal(result.code, 3)
  assert.match(result.complaint, pattern`${messages.notCreated} .*: Not a directory`)
})

test('without a working directory: one line on stderr, and the program runs on', async () => {
  const options = { under: ['sh', '-c', 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', 'sh'] }
  const lost = await runUnharmed(['ending.js', 'exit', '10'], options)
  assert.equal(lost.code, 3)
  assert.match(lost.complaint, pattern`${messages.notCreated} `)

  const dir = temporaryDirectory()
  const kept = await runUnharmed(['ending.js', 'exit', '10'], {
    ...options,
    env: { CPU_PROF_DIR: dir },
  })
  assert.equal(kept.complaint, '')
  assert.equal(kept.traces.length, 1)
})

test("a worker's file is private, in the directory set at the start", async () => {
  const source = `
    process.umask(0)
    process.chdir('/')
    new (require('node:worker_threads').Worker)('require(${SPIN}).spin(100)', { eval: true })
  `
  const { traces, stderr } = await runUnharmed(['-e', source])
  assert.equal(stderr, '')
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0, 1],
  )
  for (const { file } of traces) assert.equal(fs.statSync(file).mode & 0o777, 0o600)
})

test('a program without free descriptors is still recorded', async () => {
  const source = `${EXHAUST}
    const { spin } = require(${SPIN})
    // Opens the counters of the CPU time.
    spin(0)
    const code = exhaust()
    ;(function exhausted() { spin() })()
    for (const descriptor of open) fs.closeSync(descriptor)
    console.log(code)
  `
  const { stdout, stderr, traces } = await runUnharmed(['-e', source], {
    under: FEW_DESCRIPTORS,
    env: FAST,
  })
  assert.equal(stdout, 'EMFILE\n')
  assert.equal(stderr, '')
  assert.ok(traces[0].ended)
  assertSeen(traces[0], 'exhausted')
})

test('no free descriptor for the file of a worker: one line on stderr', async () => {
  // Node needs descriptors for a preload, so the worker starts without one.
  const inside = `${EXHAUST}
    require(${LIB} + '/addon.js').load()
    const { register } = require(${LIB} + '/preload.js')
    const code = exhaust()
    register()
    for (const descriptor of open) fs.closeSync(descriptor)
    console.log(code)
    process.exit(3)
  `
  const source = `
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(inside)}, { eval: true, execArgv: [] }).on('exit', (code) => {
      process.exitCode = code
    })
  `
  const { code, stdout, stderr, traces } = await run(['-e', source], { under: FEW_DESCRIPTORS })
  assert.equal(code, 3)
  assert.equal(stdout, 'EMFILE\n')
  assert.match(stderr, pattern`^cpu-prof: ${messages.notCreated} .*: Too many open files .*\n$`)
  assert.deepEqual(
    traces.map((trace) => trace.tid),
    [0],
  )
})

test('a worker that Node cannot start fails as without the profiler', async () => {
  const source = `${EXHAUST}
    const { Worker } = require('node:worker_threads')
    exhaust()
    const worker = new Worker('0', { eval: true })
    worker.on('error', (error) => {
      for (const descriptor of open) fs.closeSync(descriptor)
      console.log(error.code)
      process.exitCode = 3
    })
  `
  const { code, stdout, stderr, traces } = await runUnharmed(['-e', source], {
    under: FEW_DESCRIPTORS,
  })
  assert.equal(code, 3)
  assert.equal(stdout, 'ERR_WORKER_INIT_FAILED\n')
  assert.equal(stderr, '')
  assert.ok(traces[0].ended)
})

test("a program that closes the trace's descriptor keeps its own files intact", async () => {
  const source = `
    const fs = require('node:fs')
    for (const fd of fs.readdirSync('/proc/self/fd')) {
      const target = (() => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } })()
      if (target.endsWith('.trace.json')) fs.closeSync(Number(fd))
    }
    const own = []
    for (let i = 0; i < 64; i++) own.push(fs.openSync('own-' + i, 'w'))
    require(${SPIN}).spin()
    for (const fd of own) fs.writeSync(fd, 'mine')
    for (const fd of own) fs.closeSync(fd)
  `
  const { cwd, code, complaint } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(code, 0)
  assert.match(complaint, /closed the descriptor of the trace/)
  for (let i = 0; i < 64; i++) {
    assert.equal(fs.readFileSync(path.join(cwd, `own-${i}`), 'utf8'), 'mine')
  }
})
