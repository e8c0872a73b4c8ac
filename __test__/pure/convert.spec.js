'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, report } = require('../../index.js')
const { readCpuProfile } = require('../helpers/cpuprofile.js')
const { run, filesIn, temporaryDirectory } = require('../helpers/run.js')
const { readMerged } = require('../helpers/run-traces.js')
const { readProfile } = require('../helpers/trace.js')

/** Returns time and stack of each sample. @param {any} profile a trace or .cpuprofile, as read by the helpers */
function stacks(profile) {
  const isTrace = profile.samples[0]?.node !== undefined
  const nodes = isTrace ? profile.nodes : profile.byId
  const parents = new Map()
  for (const { id, parent, children = [] } of nodes.values()) {
    if (parent !== undefined) parents.set(id, parent)
    for (const child of children) parents.set(child, id)
  }
  const known = new Map()
  const stack = (/** @type {number} */ id) => {
    if (!known.has(id)) {
      const { functionName, url, lineNumber, columnNumber } = nodes.get(id).callFrame
      const place = [functionName, url.replaceAll('\\', '/'), lineNumber, columnNumber].join(' ')
      known.set(id, parents.has(id) ? `${stack(parents.get(id))}\n${place}` : place)
    }
    return known.get(id)
  }
  return profile.samples.map((/** @type {any} */ sample, /** @type {number} */ i) =>
    isTrace ? [sample.us, stack(sample.node.id)] : [profile.timeDeltas[i], stack(sample)],
  )
}

/** Reads the trace of a converted \`.cpuprofile\`, which is a merged trace of one thread. @param {string} file */
async function readConverted(file) {
  const [{ pid, url, functions }] = await readMerged(file)
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'latin1'))
  /** @param {string} name */
  const named = (name) => traceEvents.filter((/** @type {any} */ event) => event.name === name)
  const [profile] = named('Profile')
  const [end] = named('trace.end')
  const read = readProfile(profile, named('ProfileChunk'), end?.ts)
  return { ...read, pid, functions, processLabel: url }
}

test('a trace converted to a .cpuprofile and back loses nothing', async () => {
  const { traces, cwd } = await run(['ending.js'], { env: { CPU_PROF_FLUSH_INTERVAL: '50' } })
  const [trace] = traces
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const { files } = await convert(trace.file, at('a.cpuprofile'))
  assert.deepEqual(files, [at('a.cpuprofile')])
  const profile = readCpuProfile(at('a.cpuprofile'))
  assert.equal(fs.statSync(at('a.cpuprofile')).mode & 0o777, 0o600)
  assert.deepEqual(stacks(profile), stacks(trace))

  await convert(at('a.cpuprofile'), at('b.json'))
  const back = await readConverted(at('b.json'))
  assert.deepEqual(stacks(back), stacks(trace))
  assert.equal(back.endUs, trace.endUs)
  assert.equal(back.processLabel, trace.processLabel)
  assert.deepEqual((await report(at('b.json'))).totals, (await report(trace.file)).totals)
})

test("a .cpuprofile from Node's --cpu-prof converts to a trace that DevTools' parser reads", async () => {
  const { cwd, pid } = await run(['ending.js'], { preload: ['--cpu-prof'] })
  const [file] = filesIn(cwd, '.cpuprofile')
  const output = path.join(cwd, 'a.trace.json')
  await convert(file, output)
  const trace = await readConverted(output)
  assert.equal(trace.pid, pid)
  const profile = readCpuProfile(file, { isOurs: false })
  assert.deepEqual(stacks(trace), stacks(profile))
  assert.ok(trace.functions.has('spin'))
})

test('each thread of a trace gets its own .cpuprofile, or an entry in the other formats', async () => {
  const { cwd, pid, traces } = await run(['workers.js', 'terminate'], {
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  assert.ok(traces.length > 1)
  const { merge } = require('../../index.js')
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  await merge(cwd, at('all.json'))
  const names = traces.map(({ tid }) => `x.${pid}.${tid}.cpuprofile`)
  const { files } = await convert(at('all.json'), at('x.cpuprofile'))
  assert.deepEqual(files, names.map(at))
  for (const file of files) readCpuProfile(file)
  const all = await report(at('all.json'), { top: 5 })
  // A .cpuprofile does not tell when a thread was blocked.
  const converted = (await report(files)).totals
  const workMs = ({ busyMs = 0, gcMs = 0, programMs = 0, blockedMs = 0 }) =>
    busyMs + gcMs + programMs + blockedMs
  assert.ok(Math.abs(workMs(converted) - workMs(all.totals)) < 0.001)
  assert.equal(converted.idleMs, all.totals.idleMs)
  assert.deepEqual((await report(cwd)).totals, all.totals)

  await convert(at('all.json'), at('x.collapsed'))
  let workUs = 0
  for (const line of fs.readFileSync(at('x.collapsed'), 'utf8').trimEnd().split('\n')) {
    const [, root, stack, weight] = /^([^;]+)((?:;[^;]+)*) (\d+)$/.exec(line) ?? []
    assert.match(
      root,
      new RegExp(`^workers\\.js \\(pid ${pid}\\) - (main|worker \\d: workers\\.js)$`),
    )
    if (stack !== ';(idle)') workUs += Number(weight)
  }
  assert.ok(Math.abs(workUs / 1000 - workMs(all.totals)) < 0.001)

  await convert(at('all.json'), at('x.speedscope.json.gz'))
  const speedscope = JSON.parse(
    zlib.gunzipSync(fs.readFileSync(at('x.speedscope.json.gz'))).toString(),
  )
  assert.deepEqual(
    speedscope.profiles.map((/** @type {any} */ profile) => profile.name),
    traces.map(
      ({ tid }) => `workers.js (pid ${pid}) - ${tid ? `worker ${tid}: workers.js` : 'main'}`,
    ),
  )
  for (const { samples, weights, startValue, endValue } of speedscope.profiles) {
    assert.equal(samples.length, weights.length)
    const sum = weights.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0)
    assert.equal(sum, endValue - startValue)
    for (const frame of samples.flat()) assert.ok(frame in speedscope.shared.frames)
  }
})

test('convert replaces an existing output and leaves nothing on failure', async () => {
  const { files } = await run(['ending.js'])
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  fs.writeFileSync(at('a.cpuprofile'), 'old')
  await convert(files[0], at('a.cpuprofile'))
  readCpuProfile(at('a.cpuprofile'))
  await convert(files[0], at('made/if/missing.cpuprofile'))
  readCpuProfile(at('made/if/missing.cpuprofile'))

  fs.writeFileSync(at('b.json'), '{}')
  /** @type {[any, any, RegExp][]} */
  const wrong = [
    [files[0], at('x.html'), /does not have the extension of a format: .*\.speedscope\.json/],
    [files[0], at('b.json/x.txt'), /could not make the folder of .*b\.json/],
    [at('b.json'), at('x.txt'), /no CPU profile/],
    [at('missing'), at('x.txt'), /does not exist/],
    [5, at('x.txt'), /inputs must be a path, or an array of at least one path, not 5/],
    [files[0], undefined, /output must be a file's path, not undefined/],
  ]
  for (const [input, output, message] of wrong) {
    await assert.rejects(convert(input, output), (error) => {
      assert.match(String(error), message)
      assert.match(String(error), /cpu-prof: /)
      return true
    })
  }
  assert.deepEqual(fs.readdirSync(dir).sort(), ['a.cpuprofile', 'b.json', 'made'])
})
