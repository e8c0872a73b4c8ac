'use strict'

// Looks at recordings that grow show what a report of the same seconds shows.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { Follower } = require('../../cli/live/follower.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { recording, writeTrace } = require('../helpers/written.js')

/** @typedef {import('../../cli/live/follower.js').LiveView} LiveView */
/** @typedef {import('../helpers/written.js').Span} Span */

/** Seconds with work, waiting, blocked calls, native code, collections and packages. @type {Span[]} */
const SPANS = [
  ['start /srv/app/main.js:1', 700],
  ['serve /srv/app/main.js:9 > query /srv/app/node_modules/pg/index.js:4', 900],
  ['serve /srv/app/main.js:9 > (garbage collector)', 100],
  ['(idle)', 400],
  ['serve /srv/app/main.js:9 > readFileSync node:fs:4', 300, { cpuMs: 20 }],
  ['serve /srv/app/main.js:9 > hash', 250, { cpuMs: 150, waitMs: 100 }],
  ['serve /srv/app/main.js:9 > query /srv/app/node_modules/pg/index.js:4', 1200],
]

/** Writes a process of two threads that last nearly four seconds. @param {string} dir */
function writeProcess(dir) {
  const facts = { cwd: '/srv/app', start: 5e9, processKey: 'k' }
  writeTrace(path.join(dir, 'main.trace.json'), { ...facts, spans: SPANS })
  const spans = [...SPANS].reverse()
  writeTrace(path.join(dir, 'w.trace.json'), { ...facts, spans, tid: 1, start: 5e9 + 200_000 })
}

/** Returns the rows of a look or of a report without what only a report has. @param {any[]} rows */
function comparable(rows) {
  return rows.map((row) => {
    const { criticalMs, trunk, builtIns, cwd, start_ms, ...rest } = row
    return rest
  })
}

/** @param {any} process @returns {any} */
function comparableProcess({ pid, name, command, cpu, launcher, threads }) {
  const cores = { javascriptMs: cpu?.javascriptMs, nativeMs: cpu?.nativeMs }
  const shown = threads.map((/** @type {any} */ thread) => {
    const { threadId, name, samples, javascriptMs, nativeMs, gcMs } = thread
    const { waitingMs, blockedMs, idleMs } = thread
    return { threadId, name, samples, javascriptMs, nativeMs, gcMs, waitingMs, blockedMs, idleMs }
  })
  return { pid, name, command, cores, launcher, threads: shown }
}

/** Checks that a look shows what a report of the same seconds shows. @param {string} dir @param {LiveView} view @param {'functions' | 'files' | 'packages'} list @param {object} [filters] */
async function assertAsReport(dir, view, list, filters) {
  const { fromMs: from, toMs: to } = view
  const wanted = await report(dir, { ...filters, from, to, top: 20 })
  assert.ok(view[list].length > 1)
  const times = (/** @type {any[]} */ rows) =>
    comparable(rows).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
  // The rows of a report are also the first by critical time.
  const names = new Set(times(view[list]).map((row) => JSON.stringify(row)))
  const others = times(wanted[list]).filter((row) => !names.has(JSON.stringify(row)))
  assert.deepEqual(others, [])
  assert.equal(view[list].length, wanted[list].length)
  assert.deepEqual(view.processes.map(comparableProcess), wanted.processes.map(comparableProcess))
  assert.deepEqual(view.totals, wanted.totals)
}

test('a look has the rows, the times and the names of a report', async () => {
  const dir = temporaryDirectory()
  writeProcess(dir)
  const follower = new Follower([dir])
  for (const seconds of [10, 1.5, 0.25, 3]) {
    for (const [by, list] of /** @type {const} */ ([
      ['function', 'functions'],
      ['file', 'files'],
      ['package', 'packages'],
    ])) {
      const view = await follower.look({ seconds, by })
      assert.equal(view.toMs, 4050)
      assert.equal(view.fromMs, Math.max(0, 4050 - seconds * 1000))
      await assertAsReport(dir, view, list)
    }
  }
  const { functions, files, packages, processes } = await follower.look({ by: 'thread' })
  assert.deepEqual([functions, files, packages], [[], [], []])
  assert.equal(processes[0].threads.length, 2)
})

test('filters are those of a report', async () => {
  const dir = temporaryDirectory()
  writeProcess(dir)
  const follower = new Follower([dir])
  for (const filters of [{ thread: ['worker'] }, { focus: ['query'] }, { package: ['pg'] }]) {
    const view = await follower.look({ seconds: 2, ...filters })
    await assertAsReport(dir, view, 'functions', filters)
  }
  const none = await follower.look({ process: ['other'] })
  assert.deepEqual([none.processes, none.functions, none.recordings], [[], [], 2])
})

/** A second of work for two routes, with other nodes before those that a look needs. @type {Span[]} */
const LABELLED = [
  ['boot /srv/app/main.js:1 > load /srv/app/boot.js:1', 600],
  ['serve /srv/app/main.js:9 > users /srv/app/users.js:4', 300, { labels: { route: '/users' } }],
  ['serve /srv/app/main.js:9 > report /srv/app/r.js:4', 400, { labels: { route: '/r', t: '1' } }],
  ['serve /srv/app/main.js:9', 100],
  ['serve /srv/app/main.js:9 > report /srv/app/r.js:4', 200, { labels: { route: '/users' } }],
]

test('labels are those of a report, as rows and as a filter', async () => {
  const dir = temporaryDirectory()
  writeTrace(path.join(dir, 'main.trace.json'), { cwd: '/srv/app', spans: LABELLED })
  const follower = new Follower([dir])
  for (const seconds of [10, 0.8]) {
    for (const by of /** @type {const} */ (['label', 'label:route'])) {
      const view = await follower.look({ seconds, by })
      const { labels } = await report(dir, { by, from: view.fromMs, to: view.toMs })
      assert.equal(view.labels.length, 3)
      const wanted = labels.map(({ labels, ...row }) => row)
      assert.deepEqual(comparable(view.labels), comparable(wanted))
    }
    const filters = { label: ['route=/users'] }
    const view = await follower.look({ seconds, ...filters })
    assert.deepEqual(
      view.functions.flatMap(({ name, selfMs }) => (selfMs > 0 ? name : [])).sort(),
      ['report', 'users'],
    )
    await assertAsReport(dir, view, 'functions', filters)
  }
  assert.deepEqual((await follower.look({ by: 'function' })).labels, [])
  const other = await follower.look({ label: ['route=/none'] })
  assert.deepEqual([other.processes, other.recordings], [[], 1])
})

test('top has rows by label, and chooses by one', async () => {
  const cwd = temporaryDirectory()
  const file = writeTrace(path.join(cwd, 'a.trace.json'), { cwd: '/srv/app', spans: LABELLED })
  const look = async (/** @type {string[]} */ ...words) =>
    (await cli(['top', '--count', '1', file, ...words], { cwd })).stdout
  const byRoute = await look('--by', 'labels:route')
  assert.match(byRoute, /by label:route, self/)
  assert.match(byRoute, /\n +31\.[23]% +\/users +users \(users\.js:4\)\n/)
  const chosen = await look('--label', 'route=/r')
  assert.match(chosen, /\n +25\.0% +25\.0% +report +/)
  assert.doesNotMatch(chosen, / users /)
  assert.match(await look('--label', 'route=/none'), /nothing matches/)
})

test('a file that grows line by line is followed', async () => {
  const dir = temporaryDirectory()
  const file = path.join(dir, 'a.trace.json')
  const text = recording({ cwd: '/srv/app', spans: SPANS, flushMs: 100 })
  const lines = text.split(',\n')
  const follower = new Follower([dir])
  const chunks = lines.flatMap((line, at) => (line.includes('ProfileChunk') ? [at] : []))
  for (const at of chunks.filter((_, index) => index % 7 === 3)) {
    fs.writeFileSync(file, `${lines.slice(0, at).join(',\n')}\n]}`)
    const view = await follower.look({ seconds: 1 })
    if (view.functions.length > 1) await assertAsReport(dir, view, 'functions')
  }
  fs.writeFileSync(file, text)
  const view = await follower.look({ seconds: 1 })
  assert.equal(view.toMs, 3850)
  assert.equal(view.growing, 0)
})

test('functions have the places of their sources', async () => {
  const dir = temporaryDirectory()
  const map = {
    version: 3,
    sources: ['main.ts'],
    names: [],
    sourcesContent: ['\n\nfunction serve() {}\n'],
    mappings: 'AAEA',
  }
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`
  const code = path.join(dir, 'main.js')
  fs.writeFileSync(code, `function serve() {}\n//# sourceMappingURL=${url}\n`)
  const spans = /** @type {Span[]} */ ([
    [`serve ${code}:1:15`, 300],
    ['other /a.js:1', 100],
  ])
  writeTrace(path.join(dir, 'a.trace.json'), { spans })
  const follower = new Follower([path.join(dir, 'a.trace.json')])
  for (let look = 0; look < 3; look++) {
    const { functions } = await follower.look()
    assert.deepEqual([functions[0].name, path.basename(functions[0].file)], ['serve', 'main.ts'])
  }
  const { functions } = await follower.look({ sourceMaps: false })
  assert.equal(functions[0].file, code)
})

test('top tells what it cannot watch', async () => {
  const cwd = temporaryDirectory()
  const file = writeTrace(path.join(cwd, 'a.trace.json'), { spans: SPANS })
  const look = async (/** @type {string[]} */ ...words) => {
    const { code, stdout, stderr } = await cli(['top', '--count', '1', ...words], { cwd })
    return { code, stdout, stderr }
  }
  const shown = await look(file, '--by', 'package', '--sort', 'total')
  assert.deepEqual([shown.code, shown.stderr], [0, ''])
  assert.match(shown.stdout, /^cpu-prof top · .*by package, total/)
  assert.match(shown.stdout, /\n +[\d.]+% +[\d.]+%.* {2}pg\n/)

  const noRun = await look()
  assert.deepEqual([noRun.code, noRun.stdout], [1, ''])
  assert.match(noRun.stderr, pattern`^cpu-prof: ${messages.noRun} profiles`)
  // No system has a process of this id.
  const noProcess = await look('4194305')
  assert.deepEqual([noProcess.code, noProcess.stdout], [1, ''])
  assert.match(noProcess.stderr, /^cpu-prof: there is no process 4194305;/)
  const notRecorded = await look(String(process.pid))
  assert.equal(notRecorded.code, 1)
  assert.match(notRecorded.stderr, /is not recorded.*cpu-prof run.*--tree/)
  const gone = await look('gone.json')
  assert.deepEqual([gone.code, gone.stdout], [1, ''])
  assert.match(gone.stderr, /^cpu-prof: gone\.json does not exist: name a process by its pid or/)
  const other = path.join(cwd, 'other.json')
  fs.writeFileSync(other, '[]')
  const notOurs = await look(other)
  assert.match(
    notOurs.stdout,
    /no recording so far · .*other\.json: it is not a trace that cpu-prof/,
  )
  for (const words of [
    ['--seconds', '0'],
    ['--seconds', 'x'],
    ['--by', 'line'],
    ['--count', '0'],
  ]) {
    const { code, stderr } = await look(...words)
    assert.equal(code, 2, stderr)
  }
})
