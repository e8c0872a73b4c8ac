'use strict'

// What the commands for running processes print: columns, hostile names, progress.

const assert = require('node:assert/strict')
const test = require('node:test')
const { progressLines, progressText } = require('../../cli/record/progress.js')
const { renderStatus } = require('../../cli/remote/status.js')
const { renderProcesses } = require('../../cli/remote/table.js')
const { displayWidth } = require('../../cli/terminal/width.js')
const { statusOf } = require('../helpers/armed.js')

const NOW = Date.UTC(2026, 0, 1)
const ESCAPES = '\x1b[2J\x1b]0;owned\x07\u202eevil\n\rname'
/** A character that would control a terminal, besides the ends of lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not be there
const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

/** @param {Record<string, any>} facts @param {string} [packageName] @returns {any} */
function armed(facts, packageName) {
  const status = statusOf({ pid: 4711, armedMs: NOW - 3_600_000, ...facts })
  return { pid: status.pid, packageName, status, socket: { file: '', pid: status.pid } }
}

/** @param {number} columns */
const view = (columns) => ({ columns, cwd: '/srv', nowMs: NOW })

test('the list has a line for each process', () => {
  const recording = { sinceMs: NOW - 12_000, by: 'cpu-prof record (pid 71)', threads: 1, files: [] }
  const text = renderProcesses(
    [
      armed({}, '@acme/api'),
      armed({ pid: 12, label: 'a.js', recording }),
      armed({ pid: 13, conditions: ['stall>500ms'], dir: '/var/profiles' }),
      { pid: 14, socket: { file: '', folder: '', pid: 14 }, problem: 'it gave no answer in 2 s' },
    ],
    view(120),
  )
  assert.equal(
    text,
    `${[
      ' pid  label      package    state                     since   folder',
      '4711  server.js  @acme/api  armed                     1h 00m  api',
      '  12  a.js                  recording 12.0 s          1h 00m  api',
      '  13  server.js             armed: stall>500ms        1h 00m  /var/profiles',
      '  14                        it gave no answer in 2 s',
    ].join('\n')}\n`,
  )
})

test('the list has the users of the processes if there are several', () => {
  const of = (/** @type {number} */ user) => ({ ...armed({}), socket: { file: '', user } })
  const lines = (/** @type {number} */ user) =>
    renderProcesses([of(0), of(1000)], { ...view(120), user }).split('\n')
  assert.equal(lines(0)[0], ' pid  user  label      package  state  since   folder')
  assert.equal(lines(0)[2], '4711  1000  server.js           armed  1h 00m  api')
  assert.doesNotMatch(renderProcesses([of(1000)], { ...view(120), user: 1000 }), /user|1000/)
})

for (const columns of [50, 80, 160]) {
  test(`the list fits ${columns} columns, whatever the names are`, () => {
    const long = 'long-'.repeat(40)
    const hostile = { label: ESCAPES + long, script: '/x', dir: `/srv/${ESCAPES}${long}`, argv: [] }
    const wide = { label: '数据库'.repeat(20), dir: '/srv/数据', conditions: [ESCAPES.repeat(20)] }
    const text = renderProcesses([armed(hostile, ESCAPES + long), armed(wide)], view(columns))
    assert.doesNotMatch(text, CONTROL)
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.length, 3)
    for (const line of lines) assert.ok(displayWidth(line) <= columns, line)
    // The time and the pid are never cut.
    for (const line of lines.slice(1)) assert.match(line, /^4711 .*1h 00m/)
  })
}

test('a status tells who records, into which files, and what was last', () => {
  const recording = {
    sinceMs: NOW - 12_000,
    by: 'cpu-prof record (pid 71)',
    forMs: 30_000,
    threads: 2,
    files: ['/srv/p/a.trace.json'],
  }
  const last = { files: ['/srv/p/b.trace.json'], endedMs: NOW - 60_000 }
  assert.equal(
    renderStatus(armed({ recording, last, threads: 2 }, '@acme/api'), '/srv', NOW),
    [
      'pid 4711 (server.js)',
      '  state    recording 12.0 s',
      '           started by cpu-prof record (pid 71), ends in 18.0 s',
      '  program  api/server.js --port 80, Node v24.0.0, @acme/api',
      '  threads  2',
      '  armed    1h 00m ago',
      '  folder   p',
      '  writes   p/a.trace.json',
      '  last     1 file, 60.0 s ago',
      '           p/b.trace.json',
      '',
    ].join('\n'),
  )
})

test('a status of hostile names stays on its lines', () => {
  const recording = { sinceMs: NOW, by: ESCAPES, threads: 1, files: [ESCAPES] }
  const facts = {
    label: ESCAPES,
    script: ESCAPES,
    argv: ['', '', ESCAPES],
    dir: ESCAPES,
    recording,
  }
  const text = renderStatus(armed(facts, ESCAPES), '/srv', NOW)
  assert.doesNotMatch(text, CONTROL)
  assert.deepEqual(
    text.split('\n').map((line) => line.trim().split(' ')[0]),
    ['pid', 'state', 'started', 'program', 'threads', 'armed', 'folder', 'writes', ''],
  )
})

/** @param {any[]} functions @returns {any} */
const live = (functions) => ({ totals: { javascriptMs: 900, nativeMs: 50, gcMs: 50 }, functions })

const FUNCTIONS = [
  { name: 'parse', file: '/srv/parse.js', line: 7, selfMs: 100 },
  { name: 'render', file: '/srv/render.js', line: 12, selfMs: 500 },
  { name: 'total', file: '/srv/total.js', line: 1, selfMs: 0 },
  { name: `${ESCAPES}${'x'.repeat(99)}`, file: `/srv/${'y'.repeat(200)}.js`, line: 3, selfMs: 50 },
]

test('the progress shows the time that is left and the hottest functions', () => {
  const state = { names: ['a', 'b', 'c'], elapsedMs: 5000, forMs: 20_000, view: live(FUNCTIONS) }
  const lines = progressLines(state, 80, '/srv')
  assert.equal(lines[0], '█████░░░░░░░░░░░░░░░ 15 s left (Ctrl-C ends it now): a, b, 1 more')
  assert.equal(lines[1], '   50.0%  render                          render.js:12')
  assert.equal(lines[2], '   10.0%  parse                           parse.js:7')
  assert.match(lines[3], /^ {4}5\.0% .*yyy\.js:3$/)
  for (const line of lines) {
    assert.ok(displayWidth(line) <= 80, line)
    assert.doesNotMatch(line, CONTROL)
  }
  assert.match(progressText(state), /^5\.00 s of 20\.0 s, render 50\.0%, parse 10\.0%, /)
})

test('the progress has no functions before the first samples', () => {
  const state = { names: ['a'], elapsedMs: 0, forMs: 1000 }
  assert.deepEqual(progressLines(state, 80, '').length, 1)
  assert.equal(progressText({ ...state, view: live([]) }), '0.0 ms of 1.00 s')
})
