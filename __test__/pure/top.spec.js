'use strict'

// The screen and the lines of `cpu-prof top`, without a terminal.

const assert = require('node:assert/strict')
const test = require('node:test')
const { DEFAULTS, press } = require('../../cli/top/choices.js')
const { renderPlain, renderScreen, tableRows } = require('../../cli/top/render.js')
const { displayWidth } = require('../../cli/terminal/width.js')
const { messages } = require('../helpers/messages.js')

/** @typedef {import('../../cli/live/follower.js').LiveView} LiveView */

const NO_TIMES = { javascriptMs: 0, nativeMs: 0, gcMs: 0, waitingMs: 0, blockedMs: 0, idleMs: 0 }
const SMALL = { columns: 80, rows: 24, colours: false }

/** @param {string} name @param {number} selfMs @param {number} [totalMs] */
const hot = (name, selfMs, totalMs = selfMs) => ({
  name,
  file: `/srv/app/${name}.js`,
  line: 3,
  column: 1,
  package: '(own code)',
  selfMs,
  totalMs,
  blockedMs: 0,
  waitingMs: 0,
})

/** Returns a look at ten seconds of a process with a worker. @param {Partial<LiveView>} [facts] @returns {LiveView} */
function viewOf(facts) {
  const thread = (
    /** @type {number} */ threadId,
    /** @type {string} */ name,
    javascriptMs = 0,
  ) => ({ threadId, name, samples: 100, ...NO_TIMES, javascriptMs, gcMs: javascriptMs / 10 })
  const threads = [thread(0, 'main', 4000), thread(1, 'worker 1: hash.js', 9000)]
  return {
    fromMs: 5000,
    toMs: 15_000,
    silentMs: 300,
    growing: 2,
    recordings: 2,
    processes: [{ pid: 42, name: 'app', command: 'app serve', launcher: false, threads }],
    totals: { ...NO_TIMES, javascriptMs: 13_000, gcMs: 1300, waitingMs: 500 },
    functions: [hot('parse', 3000, 4000), hot('main', 10, 9000), hot('hash', 6000)],
    files: [],
    packages: [],
    labels: [],
    failed: [],
    notes: [],
    ...facts,
  }
}

/** @param {Partial<LiveView>} [facts] @param {Partial<import('../../cli/top/choices.js').Choices>} [choices] @param {import('../../cli/top/render.js').Size} [size] */
function screenOf(facts, choices, size = SMALL) {
  const shown = { title: 'profiles', view: viewOf(facts), at: new Date(2026, 0, 1, 3, 4, 5) }
  return renderScreen(shown, { ...DEFAULTS, ...choices }, size, '/srv/app')
}

/** Returns the names of the rows. @param {string[]} lines */
const namesIn = (lines) =>
  lines.flatMap((line) => /^ {2,}[\d.]+%.*? {2,}(\w+) {2,}\S+$/.exec(line.trimEnd())?.[1] ?? [])

test('a screen of 80 columns and 24 rows shows the threads and the hottest functions', () => {
  const lines = screenOf()
  assert.equal(lines.length, 24)
  assert.ok(lines.every((line) => displayWidth(line) <= 80))
  assert.match(lines[0], /^cpu-prof top · profiles +last 10\.0 s by function, self · 03:04:05$/)
  assert.equal(
    lines[1],
    '1 process, 2 threads · 1.43 cores at work · gc 13% · waiting 5% · blocked 0%',
  )
  assert.match(lines[2], /^99\.0% 42 worker 1: hash\.js {3}44\.0% 42 app serve$/)
  assert.equal(lines[3], '')
  assert.match(lines[4].trimEnd(), /^ +self +total +blocked +waiting +function +place$/)
  assert.match(lines[5], /^ {3}60\.0% {3}60\.0% {18}hash +hash\.js:3$/)
  assert.deepEqual(namesIn(lines), ['hash', 'parse', 'main'])
  assert.match(lines[23], /^q quit/)
})

test('rows are sorted, filtered, and more than the screen has', () => {
  assert.deepEqual(namesIn(screenOf({}, { sort: 'total' })), ['main', 'hash', 'parse'])
  assert.deepEqual(namesIn(screenOf({}, { filter: 'PARSE.js' })), ['parse'])
  assert.match(screenOf({}, { filter: 'x' })[3], /only rows with "x"/)
  const functions = Array.from({ length: 100 }, (_, i) => hot(`f${i}`, 5000 - i))
  const rows = tableRows(24)
  assert.deepEqual(
    namesIn(screenOf({ functions }, { offset: 20 })),
    functions.slice(20, 20 + rows).map(({ name }) => name),
  )
  // No further than the last row.
  assert.equal(namesIn(screenOf({ functions }, { offset: 999 })).at(-1), 'f99')
})

test('threads, files and packages have tables', () => {
  const threads = screenOf({}, { by: 'thread' })
  assert.match(threads[4].trimEnd(), /^ +work +js +native +gc +waiting +blocked +thread$/)
  assert.match(threads[5].trimEnd(), /^ {3}99\.0% {3}90\.0% {12}9\.0% +42 worker 1: hash\.js$/)
  const cost = { selfMs: 1000, totalMs: 2000, blockedMs: 500, waitingMs: 0 }
  const files = [
    { file: '/srv/app/a.js', package: '(own code)', ...cost },
    { file: '', package: '(native)', ...cost },
  ]
  const byFile = screenOf({ files }, { by: 'file' })
  assert.match(byFile[5], /^ {3}10\.0% {3}20\.0% {4}5\.0% {10}a\.js +\(own code\)$/)
  assert.match(byFile[6], /\(native\) +\(native\)$/)
  const byPackage = screenOf({ packages: [{ name: 'express', ...cost }] }, { by: 'package' })
  assert.match(byPackage[5], / {2}express$/)
})

test('labels have a table with the hottest function of each', () => {
  const label = (/** @type {string} */ name, /** @type {number} */ selfMs) => ({
    name,
    selfMs,
    totalMs: selfMs,
    blockedMs: 0,
    waitingMs: 9000 - selfMs,
    hottest: { ...hot('render', 0), file: `/srv/app/views${name}.js` },
  })
  const labels = [label('/users/:id', 1000), label('/report', 4000)]
  for (const sort of /** @type {const} */ (['self', 'total'])) {
    const lines = screenOf({ labels }, { by: 'label:route', sort })
    assert.match(lines[0], /last 10\.0 s by label:route, self/)
    assert.match(lines[4].trimEnd(), /^ +self +blocked +waiting +route +hottest function$/)
    assert.match(lines[5], /^ {3}40\.0% {11}50\.0% +\/report +render \(report\.js:3\)$/)
    assert.match(lines[6], /^ {3}10\.0% .*\/users\/:id +render/)
  }
  assert.match(screenOf({ labels }, { by: 'label' })[4], / label +hottest function *$/)
  assert.equal(screenOf({}, { by: 'label' })[3], messages.noLabels)
})

test('the status line tells why nothing new is shown', () => {
  const status = (/** @type {Partial<LiveView>} */ facts) => screenOf(facts)[3]
  assert.match(status({ silentMs: 4000 }), /^no samples for 4\.00 s: .*idle, .*stopped or gone$/)
  assert.equal(status({ growing: 0 }), messages.haveEnded)
  assert.equal(status({ growing: 0, silentMs: 60_000 }), `${messages.haveEnded}, 60.0 s ago`)
  assert.equal(status({ recordings: 0, processes: [] }), 'no recording so far')
  assert.equal(status({ toMs: 0, fromMs: 0, processes: [] }), 'no samples so far')
  assert.match(status({ processes: [] }), /^nothing matches/)
  const failed = [{ file: 'a.json', reason: 'it does not exist' }]
  assert.equal(status({ failed, notes: ['left out 2'] }), 'a.json: it does not exist · left out 2')
  const typing = screenOf({}, { isTyping: true, filter: 'ab' })
  assert.match(typing[3], /^filter: ab_/)
  const paused = screenOf({}, { isPaused: true })
  assert.equal(paused[3], 'paused')
  const before = renderScreen({ title: 'x', problem: 'no addon' }, DEFAULTS, SMALL, '')
  assert.deepEqual([before.length, before[3]], [24, 'no addon'])
})

test('names of anybody fit every screen, and control nothing', () => {
  const hostile = [
    '\x1b[2J\x1b]0;title\x07',
    'line\nbreak\ttab\r',
    '\u202egnihtyreve',
    '漢字'.repeat(60),
    '🧑‍🧑‍🧒‍🧒'.repeat(40),
    `e${'\u0301'.repeat(300)}`,
    'long'.repeat(200),
    '',
  ]
  const facts = {
    functions: hostile.map((name, i) => ({ ...hot(name, 1000 + i), file: `/${name}` })),
    files: hostile.map((file, i) => ({ ...hot('', 9 + i), file, package: file })),
    packages: hostile.map((name) => hot(name, 7)),
    labels: hostile.map((name) => ({ ...hot(name, 7), hottest: hot(name, 7) })),
    processes: hostile.map((command) => ({
      pid: 1,
      name: command,
      command,
      launcher: false,
      threads: [0, 1].map((threadId) => ({ threadId, name: command, samples: 1, ...NO_TIMES })),
    })),
    failed: hostile.map((file) => ({ file, reason: file })),
    notes: hostile,
  }
  const kinds = /** @type {const} */ (['function', 'file', 'package', 'label', 'thread'])
  for (const by of kinds) {
    for (const [columns, rows] of [
      [80, 24],
      [20, 5],
      [61, 10],
      [1, 1],
    ]) {
      const size = { columns, rows, colours: false }
      for (const title of hostile) {
        const shown = { title, view: viewOf(facts), problem: title }
        const choices = { ...DEFAULTS, by, filter: '' }
        const screen = renderScreen(shown, choices, size, '/')
        assert.ok(screen.length <= rows, `${screen.length} lines on ${rows} rows`)
        for (const line of [...screen, ...renderPlain(shown, choices, size, '/')]) {
          assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e]/u)
          assert.ok(displayWidth(line) <= columns, JSON.stringify([columns, line]))
        }
      }
    }
  }
})

test('colours take no columns', () => {
  const plain = screenOf()
  const coloured = screenOf({}, {}, { ...SMALL, colours: true })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles
  const bare = coloured.map((line) => line.replace(/\x1b\[\d+m/g, '').trimEnd())
  assert.deepEqual(
    bare,
    plain.map((line) => line.trimEnd()),
  )
  assert.notDeepEqual(coloured, plain)
})

test('without a screen, a look is a block of lines', () => {
  const shown = { title: 'profiles', view: viewOf({ growing: 0 }) }
  const lines = renderPlain(shown, DEFAULTS, { columns: 100, rows: 2, colours: false }, '/srv/app')
  assert.equal(lines.length, 7)
  assert.equal(lines[2], messages.haveEnded)
  assert.deepEqual(namesIn(lines), ['hash', 'parse'])
  assert.equal(lines.at(-1), '')
})

test('keys change what is shown', () => {
  /** @param {...(string | import('../../cli/top/choices.js').Key)} keys */
  const after = (...keys) =>
    keys.reduce((choices, key) => {
      const named = typeof key === 'string' ? { sequence: key, name: key } : key
      return press(choices, named, 18)
    }, DEFAULTS)
  assert.deepEqual(
    ['f', 'i', 'p', 't'].map((key) => after(key).by),
    ['function', 'file', 'package', 'thread'],
  )
  assert.deepEqual([after('l').by, after('l', 'f').by], ['label', 'function'])
  const byRoute = press({ ...DEFAULTS, labels: 'label:route' }, { sequence: 'l', name: 'l' }, 18)
  assert.equal(byRoute.by, 'label:route')
  assert.equal(after('s').sort, 'total')
  assert.equal(after('s', 's').sort, 'self')
  assert.deepEqual([after('+').seconds, after('-').seconds], [20, 5])
  assert.equal(after(...Array(20).fill('+')).seconds, 60)
  assert.equal(after(...Array(20).fill('-')).seconds, 1)
  assert.equal(after({ sequence: ' ', name: 'space' }).isPaused, true)
  assert.equal(after('q').isDone, true)
  assert.equal(after({ name: 'c', ctrl: true }).isDone, true)
  assert.equal(after('?').hasHelp, true)
  assert.deepEqual([after('?', 'q').hasHelp, after('?', 'q').isDone], [false, false])
  const [down, up, pageDown] = ['down', 'up', 'pagedown'].map((name) => ({
    name,
    sequence: '\x1b[',
  }))
  assert.deepEqual(
    [after(down, down, up).offset, after(up).offset, after(pageDown).offset],
    [1, 0, 18],
  )
  assert.equal(after(pageDown, 't').offset, 0)

  const [enter, leave, back] = ['return', 'escape', 'backspace'].map((name) => ({
    name,
    sequence: name === 'return' ? '\r' : '\x7f',
  }))
  const typed = after('/', 'q', 't', 'é', up, back, enter)
  assert.deepEqual(
    [typed.filter, typed.isTyping, typed.isDone, typed.by],
    ['qt', false, false, 'function'],
  )
  assert.equal(after('/', 'q', leave).filter, '')
  assert.equal(after('/', 'q', enter, leave).filter, '')
  assert.equal(after('/', { name: 'c', ctrl: true }).isDone, true)
  // Not properties of Object.prototype.
  assert.deepEqual(after('constructor', 'toString'), DEFAULTS)
})

test('the help fits a small screen', () => {
  const lines = screenOf({}, { hasHelp: true })
  assert.ok(lines.length <= 24)
  assert.ok(lines.some((line) => line.includes('quit')))
})
