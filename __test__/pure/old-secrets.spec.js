'use strict'

// Recordings of older versions, which have secrets ('hunter2'): no tool passes one on.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { assertToolsClean } = require('../helpers/secrets.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

const CODE = 'data:text/javascript,/* hunter2-code */'

/** @type {import('../helpers/written.js').Span[]} */
const SPANS = [
  [[{ name: 'url', file: 'https://me:hunter2-user@host/a.js?token=hunter2-query', line: 1 }], 20],
  [[{ name: 'file', file: '/app/b.js?token=hunter2-query', line: 1 }], 20],
  [[{ name: 'code', file: CODE, line: 1 }], 20],
  ['rows /app/c.js:1', 20, { labels: { http: 'GET /rows;jsessionid=hunter2-session' } }],
  ['reset /app/c.js:2', 20, { labels: { http: 'GET /reset/hunter2a1b2c3', route: '/reset/:id' } }],
]
const ARGUMENTS = [
  '--password=hunter2-option',
  '--token',
  'hunter2-next',
  'postgres://me:hunter2-user@db/x',
  'API_KEY=hunter2-variable',
]

/** Returns the events of a time that the program named. @param {number} ts @param {string} name @param {string} [detail] */
function timing(ts, name, detail) {
  const common = { cat: 'blink.user_timing', name, id2: { local: `0x${ts.toString(16)}` } }
  const args = { startTime: 1, ...(detail !== undefined && { detail }) }
  return [
    { ...common, ph: 'b', ts, args },
    { ...common, ph: 'e', ts: ts + 5000, args: {} },
  ]
}

const HEADERS = { headers: { authorization: 'Bearer hunter2-header', cookie: 'a=hunter2-cookie' } }
const request = JSON.stringify({
  req: { method: 'GET', url: '/x?y=hunter2', ...HEADERS },
  res: HEADERS,
})
const track = JSON.stringify({ devtools: { dataType: 'track-entry', track: 'HTTP server' } })
const start = 1e9
const EVENTS = [
  ...timing(start + 1000, 'HttpRequest', request),
  ...timing(start + 10_000, 'GET /rows?token=hunter2-query', track),
  ...timing(start + 20_000, 'https://me:hunter2-user@host/fetched?x=hunter2', track),
  ...timing(start + 30_000, `GET /${'hunter2'.repeat(1000)}`, track),
  ...timing(start + 40_000, 'GET /kept', track),
  {
    cat: 'blink.user_timing',
    name: 'load https://me:hunter2@host/',
    ph: 'I',
    s: 't',
    ts: start + 50_000,
    args: { data: { startTime: 1, detail: request } },
  },
  {
    cat: 'disabled-by-default-devtools.timeline',
    name: 'ScriptSourceMap',
    ph: 'I',
    s: 't',
    ts: start + 60_000,
    args: {
      data: {
        scriptId: '77',
        url: CODE,
        sourceMap: { version: 3, sources: ['/app/d.ts'], names: [], mappings: 'AAAA' },
      },
    },
  },
]
const RECORDED = { spans: SPANS, label: 'app.js', argv: ARGUMENTS, cwd: '/app', start }

test('no tool passes on secrets of an older trace', async () => {
  const dir = temporaryDirectory()
  writeTrace(path.join(dir, 'a.trace.json'), { ...RECORDED, events: EVENTS })
  const worker = { tid: 1, spans: SPANS, start: start + 1000, pid: 8, ppid: 7 }
  writeTrace(path.join(dir, 'b.trace.json'), { ...RECORDED, ...worker, events: EVENTS.slice(0, 4) })
  await assertToolsClean(dir)

  const cwd = temporaryDirectory()
  const { code, stderr } = await cli(['merge', dir, '-o', 'merged.json'], { cwd })
  assert.equal(code, 0, stderr)
  const text = require('node:fs').readFileSync(path.join(cwd, 'merged.json'), 'utf8')
  for (const kept of [
    '"GET /rows"',
    '"GET /kept"',
    '"https://host/a.js"',
    '/reset/:id',
    'API_KEY=',
  ]) {
    assert.ok(text.includes(kept), `${kept} is kept`)
  }
})

test('no tool passes on secrets of a trace that an older version merged', async () => {
  const dir = temporaryDirectory()
  writeTrace(path.join(dir, 'a.trace.json'), { ...RECORDED, events: EVENTS })
  const merged = path.join(dir, 'merged.json')
  const { code } = await cli(['merge', path.join(dir, 'a.trace.json'), '-o', merged])
  assert.equal(code, 0)
  const fs = require('node:fs')
  const text = fs.readFileSync(merged, 'utf8')
  // What the older version left in.
  const older = text
    .replaceAll('https://host/a.js', 'https://me:hunter2@host/a.js?x=hunter2')
    .replaceAll('GET /rows', 'GET /rows?token=hunter2')
    .replaceAll('API_KEY=\\u2026', 'API_KEY=hunter2')
    .replaceAll('--password=\\u2026', '--password=hunter2')
    .replaceAll('data:text/javascript,\\u2026', CODE)
  assert.notEqual(older, text)
  fs.writeFileSync(path.join(dir, 'merged.json'), older)
  fs.rmSync(path.join(dir, 'a.trace.json'))
  await assertToolsClean(dir)
})

test('no tool passes on secrets of an older .cpuprofile', async () => {
  const dir = temporaryDirectory()
  const label = `app.js: ${ARGUMENTS.join(' ')} (pid 7)`
  const facts = {
    pid: 7,
    ppid: 1,
    threadId: 0,
    argv: ['node', '/app/app.js', ...ARGUMENTS],
    cwd: '/app',
    execArgv: ['-r', 'x', '--import', CODE],
    label,
    processName: 'app.js (pid 7)',
  }
  writeProfile(path.join(dir, 'a.cpuprofile'), SPANS, { facts })
  await assertToolsClean(dir)
})
