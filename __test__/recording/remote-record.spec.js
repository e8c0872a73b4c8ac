'use strict'

// `cpu-prof record`: one command from the start of a recording to its report.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { socketFolder } = require('../helpers/armed.js')
const { textFrom } = require('../helpers/cli.js')
const { temporaryDirectory, filesIn } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { cliOf, startArmed, work } = require('../helpers/remote.js')
const { readTrace } = require('../helpers/trace.js')
const { until } = require('../helpers/until.js')

/** Returns the count of the threads with samples in a merged trace, and whether the program's work is there. @param {string} text */
function contentsOf(text) {
  const { traceEvents } = JSON.parse(text)
  const chunks = traceEvents.filter((/** @type {any} */ { name }) => name === 'ProfileChunk')
  const threads = new Set(chunks.map((/** @type {any} */ { pid, tid }) => `${pid} ${tid}`))
  return { threads: threads.size, hasWork: text.includes('"functionName":"spin"') }
}

/** Makes a folder for temporary files, in which a record leaves nothing. @param {import('node:test').TestContext} t */
function temporaryFiles(t) {
  const TMPDIR = temporaryDirectory('t-')
  t.after(() => assert.deepEqual(fs.readdirSync(TMPDIR), []))
  return { TMPDIR }
}

/** Sends a signal to a record once it records and the program has worked. @param {any} program @param {...NodeJS.Signals} signals */
const interrupt =
  (program, ...signals) =>
  async (/** @type {import('node:child_process').ChildProcess} */ child) => {
    child.stdin?.end()
    await textFrom(child.stderr, 'recording')
    await work(program)
    for (const signal of signals) child.kill(signal)
  }

test('record ends by itself, and leaves a trace, a report and a page', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder, ['worker'])
  const cli = cliOf(folder)
  const working = cli(['record', String(program.pid), '--for', '3s', '--html', 'page.html'], {
    env: temporaryFiles(t),
    during: interrupt(program),
  })
  const { code, stdout, stderr, cwd } = await working
  assert.deepEqual([code, stdout], [0, ''], stderr)
  assert.match(stderr, /^cpu-prof: recording pid \d+ \(.*\) for 3\.00 s\n/)
  assert.match(stderr, pattern`${messages.functionsBySelf}`)
  const [, file] = /^trace: (profiles\/\S+\/trace\.json) /m.exec(stderr) ?? []
  const trace = fs.readFileSync(path.join(cwd, file), 'utf8')
  assert.deepEqual(contentsOf(trace), { threads: 2, hasWork: true })
  assert.deepEqual(fs.readdirSync(path.dirname(path.join(cwd, file))), ['trace.json'])
  assert.match(fs.readFileSync(path.join(cwd, 'page.html'), 'utf8'), /^<!doctype html>/i)
  // The program goes on, armed and with nothing of its own written.
  assert.deepEqual(fs.readdirSync(program.cwd), [])
  const [{ recording }] = JSON.parse((await cli(['ps', '--json'])).stdout)
  assert.equal(recording, null)
  assert.equal(program.stderr, '')
})

test('-o - is a trace on stdout, and nothing is left where no folder is free', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  // No folder for temporary files, and no folder for profiles: what is left is that of the socket.
  const { code, stdout, stderr } = await cliOf(folder)(
    ['record', '--all', '--for', '1m', '-o', '-'],
    { cwd: '/proc', env: { TMPDIR: '/nowhere' }, during: interrupt(program, 'SIGINT') },
  )
  assert.equal(code, 0, stderr)
  assert.deepEqual(contentsOf(stdout), { threads: 1, hasWork: true })
  assert.match(stderr, pattern`${messages.functionsBySelf}`)
  assert.doesNotMatch(stderr, /^trace:/m)
  assert.deepEqual(
    fs.readdirSync(folder).filter((name) => !name.endsWith('.sock')),
    [],
  )
})

for (const signal of /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  test(`${signal} ends a record early, and the result is kept`, async (t) => {
    const folder = socketFolder()
    const program = await startArmed(t, folder)
    const { code, cwd, stderr } = await cliOf(folder)(
      ['record', 'controlled.js', '--for', '10m', '-o', 'trace.json', '-q'],
      {
        env: temporaryFiles(t),
        during: async (child) => {
          child.stdin?.end()
          const cli = cliOf(folder)
          const isRecorded = async () =>
            JSON.parse((await cli(['ps', '--json'])).stdout)[0].recording
          while ((await isRecorded()) === null);
          await work(program)
          child.kill(signal)
        },
      },
    )
    assert.deepEqual([code, stderr], [0, ''])
    const trace = fs.readFileSync(path.join(cwd, 'trace.json'), 'utf8')
    assert.deepEqual(contentsOf(trace), { threads: 1, hasWork: true })
  })
}

test('a second Ctrl-C gives up, and names what was recorded', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const TMPDIR = temporaryDirectory('t-')
  const { code, signal, stderr } = await cliOf(folder)(['record', '--all', '--for', '10m'], {
    env: { TMPDIR },
    during: async (child) => {
      child.stdin?.end()
      await textFrom(child.stderr, 'recording')
      // It cannot answer a stop.
      program.child.kill('SIGSTOP')
      const again = setInterval(() => child.kill('SIGINT'), 100)
      child.once('exit', () => clearInterval(again))
    },
  })
  assert.deepEqual([code, signal], [null, 'SIGINT'])
  const [name] = fs.readdirSync(TMPDIR)
  const place = path.join(TMPDIR, name)
  assert.ok(stderr.includes(`${messages.recordingsIn} ${place} ${messages.toMerge(place)}`), stderr)
  assert.equal(filesIn(place, '.trace.json').length, 1)
})

test('the recordings of a killed record are offered once nobody adds to them', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const [cli, TMPDIR] = [cliOf(folder), temporaryDirectory('t-')]
  const killed = await cli(['record', '--all', '--for', '10m'], {
    env: { TMPDIR },
    during: interrupt(program, 'SIGKILL'),
  })
  assert.equal(killed.signal, 'SIGKILL')
  const [name] = fs.readdirSync(TMPDIR)
  const place = path.join(TMPDIR, name)
  const ps = async () => (await cli(['ps'], { env: { TMPDIR } })).stderr
  // The process still writes there.
  assert.equal(await ps(), '')
  await cli(['stop', '--all'])
  // Neither this user's alone, nor a folder that record names so.
  fs.mkdirSync(path.join(TMPDIR, 'cpu-prof-record-4194305-open00'))
  fs.chmodSync(path.join(TMPDIR, 'cpu-prof-record-4194305-open00'), 0o777)
  fs.mkdirSync(path.join(TMPDIR, 'cpu-prof-record-mine'))
  const old = path.join(TMPDIR, 'cpu-prof-record-4194305-empty0')
  fs.mkdirSync(old, { mode: 0o700 })
  const offer = `cpu-prof: an earlier record was killed; ${messages.toKeep} ${place} ${messages.toDrop} ${place}\n`
  assert.equal(await ps(), offer)
  assert.ok(fs.existsSync(old), 'its record can be starting in another container')
  fs.utimesSync(old, 1, 1)
  const next = await cli(['record', '--all', '--for', '1s'], { env: { TMPDIR } })
  assert.ok(next.stderr.endsWith(offer), next.stderr)
  assert.ok(!fs.existsSync(old))
  const { code, cwd } = await cli(['merge', place, '-o', 'trace.json'])
  assert.equal(code, 0)
  const trace = fs.readFileSync(path.join(cwd, 'trace.json'), 'utf8')
  assert.deepEqual(contentsOf(trace), { threads: 1, hasWork: true })
})

test('the second person is told who records', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const cli = cliOf(folder)
  const first = await cli(['record', '--all', '--for', '10m'], {
    env: temporaryFiles(t),
    during: async (child) => {
      child.stdin?.end()
      await textFrom(child.stderr, 'recording')
      const { code, stderr } = await cli(['record', String(program.pid)], {
        env: temporaryFiles(t),
      })
      assert.equal(code, 1)
      assert.match(
        stderr,
        new RegExp(`already, since .*, by cpu-prof record \\(pid ${child.pid}\\)`),
      )
      const [{ recording }] = JSON.parse((await cli(['status', '--all', '--json'])).stdout)
      // So that nothing goes on for ever if the first is killed.
      assert.equal(recording.forMs, 610_000)
      await work(program)
      child.kill('SIGINT')
    },
  })
  assert.equal(first.code, 0, first.stderr)
})

test('a process that ends meanwhile leaves its result', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const other = await startArmed(t, folder)
  const TMPDIR = temporaryFiles(t)
  const { code, cwd, stderr } = await cliOf(folder)(
    ['record', '--all', '--for', '10m', '-o', 'trace.json'],
    {
      env: TMPDIR,
      during: async (child) => {
        child.stdin?.end()
        await textFrom(child.stderr, 'recording')
        await work(program)
        const [recordings] = fs.readdirSync(TMPDIR.TMPDIR)
        const files = () => filesIn(path.join(TMPDIR.TMPDIR, recordings), `.trace.json`)
        const own = (/** @type {string} */ file) => file.includes(`.${program.pid}.`)
        const hasWork = (/** @type {string} */ file) =>
          fs.readFileSync(file, 'utf8').includes('"spin"')
        await until(() => files().filter(own).some(hasWork))
        const hasSamples = (/** @type {string} */ file) =>
          fs.readFileSync(file, 'utf8').includes('"ProfileChunk"')
        await until(() => files().length === 2 && files().every(hasSamples))
        program.child.kill('SIGKILL')
        other.child.kill('SIGKILL')
      },
    },
  )
  assert.equal(code, 0, stderr)
  for (const { pid } of [program, other]) {
    assert.match(stderr, new RegExp(`pid ${pid} \\(.*\\) has ended; what was recorded is kept`))
  }
  const trace = fs.readFileSync(path.join(cwd, 'trace.json'), 'utf8')
  assert.deepEqual(contentsOf(trace), { threads: 2, hasWork: true })
})

test('a recording that somebody else ends is kept', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const cli = cliOf(folder)
  const { code, stderr } = await cli(['record', '--all', '--for', '10m'], {
    env: temporaryFiles(t),
    during: async (child) => {
      await interrupt(program)(child)
      await cli(['stop', '--all'])
    },
  })
  assert.equal(code, 0, stderr)
  assert.match(
    stderr,
    /is no longer recorded: somebody else ended the recording; what was recorded/,
  )
  assert.match(stderr, /^trace: /m)
})

test('--dir has the trace, and with --keep-recordings the recordings', async (t) => {
  const folder = socketFolder()
  const program = await startArmed(t, folder)
  const record = (/** @type {string[]} */ ...more) =>
    cliOf(folder)(['record', '--all', '--for', '10m', '--dir', 'out', ...more], {
      env: temporaryFiles(t),
      during: interrupt(program, 'SIGINT'),
    })
  const { cwd, code, stderr } = await record()
  assert.equal(code, 0, stderr)
  assert.deepEqual(fs.readdirSync(path.join(cwd, 'out')).sort(), ['.gitignore', 'trace.json'])
  const kept = await record('--keep-recordings')
  const [recording, ...others] = filesIn(path.join(kept.cwd, 'out'), '.trace.json')
  assert.deepEqual(others, [])
  const trace = await readTrace(recording)
  assert.ok(trace.ended)
})

test('an output that cannot be written is told before anything starts', async (t) => {
  const folder = socketFolder()
  const { cwd } = await startArmed(t, folder)
  const { code, stderr } = await cliOf(folder)(['record', '--all', '-o', cwd])
  assert.equal(code, 2)
  assert.match(stderr, pattern`${messages.nameFile}`)
  assert.deepEqual(fs.readdirSync(cwd), [])
})
