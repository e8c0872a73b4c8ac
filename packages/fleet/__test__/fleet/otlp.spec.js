'use strict'

// OpenTelemetry's own classes read the profiles that are sent, and find the times of the report.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { convert, merge, report } = require('../../../../index.js')
const { VENV } = require('../../../../scripts/fleet/engines.js')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { missing } = require('../../../../__test__/helpers/engines.js')
const { temporaryDirectory, FIXTURES } = require('../../../../__test__/helpers/files.js')
const { isState, timesOf } = require('../../../../__test__/helpers/function-times.js')
const { startPushServer } = require('../helpers/push-server.js')
const { run } = require('../../../../__test__/helpers/run.js')
const { writeProfile, writeTrace } = require('../../../../__test__/helpers/written.js')

/** @typedef {import('../../../../index.js').Selection} Filters */
/** @typedef {import('../../../../__test__/helpers/written.js').Span} Span */
/**
 * @typedef {object} ProfileFacts
 * @property {string} type
 * @property {string} periodType
 * @property {number} period
 * @property {number} timeNanos
 * @property {number} durationNanos
 * @property {string} id
 * @property {number} sum
 * @property {Record<string, number>} self by function
 * @property {Record<string, number>} totals by function
 * @property {Record<string, Record<string, number>>} attributes by key and value
 *
 * @typedef {{ profiles: ProfileFacts[], resource: Record<string, string | number>, scope: string }} RequestFacts
 */

const skip = missing('opentelemetry')
const SCRIPT = path.join(__dirname, '..', 'helpers', 'otlp-facts.py')
const TYPES = ['cpu/nanoseconds', 'wall/nanoseconds', 'samples/count']
const MAIN = 'main main.js:1:1'
const TOOL = `${MAIN} > (anonymous) node_modules/tool/index.js:12:34`
/** @type {Span[]} */
const SPANS = [
  [`${MAIN} > wait wait.js:2:1`, 24, { cpuMs: 4 }],
  ['(program)', 2],
  [`${TOOL}@14`, 3],
  [`${TOOL}@15`, 2],
  [`${MAIN} > na\u00efve"\u{1f600} sub/b.mjs:5:6 > na\u00efve"\u{1f600} sub/b.mjs:5:6`, 4],
  [`${MAIN} > (garbage collector)`, 2],
  [`${MAIN} > late wait.js:9:1`, 20, { cpuMs: 10, waitMs: 10 }],
  ['(idle)', 30],
]
const OWN = { route: '/users/:id', 'thread.name': 'own', 'process.pid': 'own', thread: 'own' }
/** @type {Span[]} */
const LABELLED = [
  [`${TOOL}@15`, 8, { labels: OWN }],
  [`${TOOL}@15`, 4, { labels: { route: '/x' } }],
  [MAIN, 4],
]

/** Writes a process with a worker. */
function writeRecordings() {
  const dir = temporaryDirectory()
  const common = { cwd: '/project', label: 'app.js', argv: ['natural'], flushMs: 24 }
  writeTrace(path.join(dir, 'CPU.7.0.trace.json'), { ...common, spans: SPANS })
  const worker = { tid: 1, script: 'crunch.js', start: 1e9 + 5000 }
  writeTrace(path.join(dir, 'CPU.7.1.trace.json'), { ...common, ...worker, spans: LABELLED })
  return dir
}

/**
 * Sends an input, and returns what OpenTelemetry's classes find in the requests.
 * @param {import('node:test').TestContext} t @param {string} input @param {Filters} [filters]
 * @param {string} [every] length of a slice
 * @returns {Promise<RequestFacts[]>}
 */
async function requestsOf(t, input, filters = {}, every = '1h') {
  const { url, pushed } = await startPushServer(t)
  const flags = Object.entries(filters).flatMap(([name, values]) => [`--${name}`, ...values])
  const to = ['--to', `${url}/v1development/profiles`, '--service', 'shop', '--tag', 'region=eu']
  const args = ['push', input, ...to, '--every', every, ...flags]
  const { code, stderr } = await cli(args)
  assert.equal(code, 0, stderr)
  const dir = temporaryDirectory()
  const files = pushed.map(({ url: asked, headers, body }, index) => {
    assert.equal(asked.pathname, '/v1development/profiles')
    assert.equal(headers['content-type'], 'application/x-protobuf')
    assert.equal(headers['content-encoding'], 'gzip')
    const file = path.join(dir, `${index}.pb`)
    fs.writeFileSync(file, zlib.gunzipSync(body))
    return file
  })
  const options = { input: JSON.stringify(files), maxBuffer: 1 << 28 }
  return JSON.parse(execFileSync(path.join(VENV, 'bin', 'python'), [SCRIPT], options).toString())
}

/** Adds numbers to those before. @param {Record<string, number>} sums @param {Record<string, number>} more */
function add(sums, more) {
  for (const [key, value] of Object.entries(more)) sums[key] = (sums[key] ?? 0) + value
}

/**
 * Checks that the requests for inputs have the times of the report.
 * @param {import('node:test').TestContext} t @param {string} input @param {Filters} [filters]
 */
async function check(t, input, filters = {}) {
  const requests = await requestsOf(t, input, filters)
  const self = TYPES.map(() => /** @type {Record<string, number>} */ ({}))
  const total = /** @type {Record<string, number>} */ ({})
  for (const { profiles, resource, scope } of requests) {
    assert.deepEqual(
      profiles.map(({ type }) => type),
      TYPES,
    )
    assert.equal(scope, `@org/cpu-prof ${require('../../../../package.json').version}`)
    assert.equal(resource['service.name'], 'shop')
    for (const [index, profile] of profiles.entries()) {
      assert.equal(profile.periodType, 'cpu/nanoseconds')
      assert.ok(profile.period > 0)
      add(self[index], profile.self)
    }
    add(total, profiles[0].totals)
  }
  const ids = requests.flatMap(({ profiles }) => profiles.map(({ id }) => id))
  assert.equal(new Set(ids).size, ids.length)
  const { functions, processes, totals } = await report(input, { ...filters, top: Infinity })
  const expected = timesOf(functions)
  const us = (/** @type {number | undefined} */ nanos) => Math.round((nanos ?? 0) / 1000)
  const names = Object.keys(total).concat(Object.keys(self[1]), Object.keys(expected))
  for (const key of new Set(names.filter((name) => !isState(name)))) {
    const found = { self: [us(self[0][key]), us(self[1][key])], total: us(total[key]) }
    assert.deepEqual(found, expected[key] ?? { self: [0, 0], total: 0 }, key)
  }
  const sum = (/** @type {number} */ index) =>
    Object.values(self[index]).reduce((all, value) => all + value, 0)
  const near = (/** @type {number} */ one, /** @type {number} */ other) =>
    assert.ok(Math.abs(one - other) < 1e-6, `${one} ${other}`)
  const { javascriptMs, nativeMs, gcMs, idleMs, blockedMs = 0, waitingMs = 0 } = totals
  near(sum(0) / 1e6, javascriptMs + nativeMs + gcMs)
  near(sum(1) / 1e6, javascriptMs + nativeMs + gcMs + idleMs + blockedMs + waitingMs)
  const samples = processes.flatMap(({ threads }) => threads.map((thread) => thread.samples))
  assert.equal(
    sum(2),
    samples.reduce((all, count) => all + count, 0),
  )
  return requests
}

for (const name of [
  'node-18.cpuprofile.gz',
  'node-24.cpuprofile.gz',
  'vite-profile.cpuprofile.gz',
]) {
  test(`the functions of ${name}`, { skip }, async (t) => {
    const [{ profiles }] = await check(t, path.join(FIXTURES, 'foreign', name))
    assert.ok(profiles[0].sum > 0)
  })
}

/** @type {Record<string, Filters>} */
const FILTERS = {
  'no filter': {},
  'a thread': { thread: ['crunch'] },
  'a function': { focus: ['wait'] },
  'a package': { package: ['tool'] },
  'a label': { label: ['route=/users/:id'] },
}
for (const [name, filters] of Object.entries(FILTERS)) {
  test(`written recordings with ${name}`, { skip }, async (t) => {
    await check(t, writeRecordings(), filters)
  })
}

test('attributes, times and ids', { skip }, async (t) => {
  const dir = writeRecordings()
  const requests = await check(t, dir)
  assert.deepEqual(await requestsOf(t, dir), requests)
  const [{ profiles, resource }] = requests
  const [{ attributes, durationNanos, period }] = profiles
  assert.equal(resource['process.pid'], 7)
  assert.equal(resource['process.runtime.name'], 'nodejs')
  assert.match(String(resource['process.runtime.version']), /^\d/)
  assert.equal(resource.region, 'eu')
  assert.deepEqual([period, durationNanos], [1e6, 87e6])
  assert.deepEqual(attributes.route, { '/users/:id': 8e6, '/x': 4e6 })
  assert.deepEqual(Object.keys(attributes['thread.name']), ['main', 'worker 1: crunch.js'])
  assert.deepEqual(Object.keys(attributes['thread.id']), ['1'])
  assert.deepEqual(Object.keys(attributes['process.pid']), ['7'])
  for (const key of ['thread.name', 'process.pid', 'thread']) {
    assert.deepEqual(attributes[`label.${key}`], { own: 8e6 })
  }
})

test('several slices, and a merged trace', { skip }, async (t) => {
  const dir = writeRecordings()
  const requests = await requestsOf(t, dir, {}, '20ms')
  assert.ok(requests.length > 2)
  const wall = requests.map(({ profiles }) => profiles[1])
  const [{ profiles }] = await check(t, dir)
  assert.equal(
    wall.reduce((all, { sum }) => all + sum, 0),
    profiles[1].sum,
  )
  const merged = path.join(temporaryDirectory(), 'all.json')
  await merge(dir, merged)
  await check(t, merged)
  const pprof = path.join(path.dirname(merged), 'x.pb')
  await convert(dir, pprof)
  await check(t, pprof)
})

test('a file of Windows and a file without samples', { skip }, async (t) => {
  const dir = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(dir, name)
  writeProfile(at('w.cpuprofile'), [[MAIN, 3]], { root: 'C:\\repo' })
  await check(t, at('w.cpuprofile'))
  writeProfile(at('empty.cpuprofile'), [])
  for (const { profiles } of await check(t, at('empty.cpuprofile'))) {
    assert.deepEqual(
      profiles.map(({ sum }) => sum),
      [0, 0, 0],
    )
  }
})

test('recorded programs: workers, hot lines, labels', { skip }, async (t) => {
  await check(t, (await run(['workers.js', 'natural'])).cwd)
  await check(t, (await run(['hot-line.js'])).cwd)
  const [{ profiles }] = await check(t, (await run(['labelled.js', '300', '20'])).cwd)
  assert.ok(profiles[0].sum > 0)
  assert.ok(Math.abs(profiles[0].timeNanos / 1e6 - Date.now()) < 600_000)
})
