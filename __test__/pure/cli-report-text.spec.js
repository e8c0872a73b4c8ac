'use strict'

// What `report` shows, as text for a terminal and as Markdown.

const assert = require('node:assert/strict')
const test = require('node:test')
const { renderText } = require('../../cli/report/text.js')
const { formatTime, printable } = require('../../cli/terminal/format.js')
const { screen } = require('../../cli/terminal/width.js')
const { renderMarkdown } = require('../../cli/report/markdown.js')
const { messages, pattern } = require('../helpers/messages.js')

/** @param {number} threadId @param {string} name @param {number[]} times */
function thread(
  threadId,
  name,
  [startMs, durationMs, javascriptMs, gcMs, nativeMs, idleMs, blockedMs = 0],
) {
  const times = { javascriptMs, gcMs, nativeMs, idleMs, waitingMs: 0, blockedMs }
  return { threadId, name, startMs, durationMs, ...times, samples: 10 }
}

/** Returns the costs of one thread, whose work is critical. @param {number} selfMs @param {number} totalMs @param {number} [blockedMs] */
const costs = (selfMs, totalMs, blockedMs = 0) => ({
  selfMs,
  totalMs,
  blockedMs,
  waitingMs: 0,
  criticalMs: selfMs,
})

/** @param {string} name @param {number} selfMs @param {number} totalMs */
function fn(
  name,
  selfMs,
  totalMs,
  file = '/repo/src/a|b.js',
  line = 7,
  packageName = '(own code)',
) {
  const times = costs(selfMs, totalMs, name === 'lint' ? 600 : 0)
  return { name, file, line, column: 1, package: packageName, trunk: name === 'main', ...times }
}

/** @param {string} name @param {number} selfMs @param {string} file @param {number} line */
function ln(name, selfMs, file, line) {
  return { name, file, line, package: '(own code)', selfMs, samples: selfMs / 2 }
}

/** @returns {import('../../index.js').Report} */
function exampleReport() {
  const times = { startMs: 0, durationMs: 4000 }
  return {
    version: 2,
    durationMs: 4000,
    totals: {
      javascriptMs: 5000,
      nativeMs: 20,
      gcMs: 100,
      waitingMs: 0,
      blockedMs: 600,
      idleMs: 3000,
    },
    chain: [],
    labels: [],
    labelKeys: [],
    processes: [
      {
        pid: 41,
        name: 'nx',
        command: 'nx run-many',
        cwd: '/repo',
        launcher: false,
        ...times,
        cpu: { javascriptMs: 1900, nativeMs: 2500, othersMs: 1200 },
        threads: [
          thread(0, 'main', [0, 4000, 900, 50, 10, 3000]),
          thread(1, 'worker 1: plugin.js', [1000, 1000, 990, 10, 0, 0]),
          thread(2, 'worker 2: idle.js', [1000, 3000, 1, 0, 0, 2999]),
        ],
      },
      {
        pid: 42,
        name: 'eslint',
        command: `eslint ${'x'.repeat(200)}`,
        ...times,
        cwd: '/repo/packages/a',
        parentPid: 41,
        launcher: false,
        threads: [thread(0, 'main', [2000, 2000, 1900, 40, 10, 0, 600])],
      },
    ],
    functions: [
      fn('parse', 1500, 1800, `/repo/node_modules/${'deep/'.repeat(40)}typescript.js`),
      fn('Module._load', 10, 4900, 'node:internal/modules/cjs/loader', 1003, 'node:'),
      fn('main', 1, 4100),
      fn('lint', 20, 4000),
      fn('red \u001b[31m\nline', 5, 5),
      fn('readFileUtf8', 300, 300, '', 0, '(native)'),
    ],
    lines: [
      ln('parse', 1000, '/repo/src/a|b.js', 12),
      ln('lint', 500, '/repo/src/a|b.js', 0),
      ln('readFileUtf8', 300, '', 0),
    ],
    files: [
      { file: '/repo/src/a|b.js', package: '(own code)', trunk: false, ...costs(25, 4000, 600) },
    ],
    packages: [
      { name: 'typescript', ...costs(1500, 1800) },
      { name: 'node:', ...costs(10, 4900) },
      { name: '(own code)', ...costs(25, 4000, 600) },
    ],
    owners: [
      { kind: 'package', name: 'typescript', ...costs(400, 1800) },
      { kind: 'own code', name: '(own code)', ...costs(0, 0) },
    ],
    scripts: [],
    counts: { functions: 6, lines: 3, files: 1, packages: 3 },
    inputs: 4,
    repaired: [],
    failed: [],
    notes: [],
  }
}

const VIEW = { columns: 100, lines: 40, colours: false, cwd: '/repo' }

test('the text fits any width and height', () => {
  for (const columns of [50, 64, 72, 80, 100, 160]) {
    for (const lines of [10, 24, 50]) {
      const text = renderText(exampleReport(), { ...VIEW, columns, lines })
      const drawn = text.trimEnd().split('\n')
      for (const line of drawn) assert.ok(line.length <= columns, `${columns}: ${line}`)
      assert.ok(drawn.length <= Math.max(lines, 12), `${drawn.length} lines for ${lines}`)
    }
  }
})

test('the text shows threads in order, then hot functions with their places', () => {
  const lines = renderText(exampleReport(), VIEW).split('\n')
  assert.match(
    lines.slice(0, 2).join(' · '),
    /^4\.00 s · 2 processes, 4 threads · JavaScript 5\.00 s, native code 20 ms, gc 100 ms, blocked 600 ms, idle 3\.00 s$/,
  )
  const at = (/** @type {RegExp} */ pattern) => {
    const found = lines.findIndex((line) => pattern.test(line))
    assert.ok(found >= 0, `${pattern} is not in\n${lines.join('\n')}`)
    return found
  }
  const order = [
    at(/^CPU 5\.60 s: JavaScript threads 1\.90 s, native threads 2\.50 s, other programs 1\.20 s$/),
    at(/^ {2}nx run-many \(41\) +░{4,} +960 ms +3\.00 s +2\.50 s +1\.20 s +–$/),
    at(/^ {4}worker 1: plugin\.js +█+ +1\.00 s/),
    at(/^ {4}worker 2: idle\.js +░+ +1\.0 ms/),
    at(/^ {2}eslint x+… · packages\/a \(42\) +█+ +1\.95 s +– +– +– +600 ms$/),
    at(/^packages, by total time \(% of 3\.91 s of work\)/),
    at(/ 4\.00 s .* \(own code\)$/),
    at(/ 1\.80 s .* typescript$/),
    at(/^own files, by total/),
    at(/ 4\.00 s .* src\/a\|b\.js$/),
    at(pattern`^${messages.functionsBySelf}`),
    at(/ 1\.50 s {2}38\.4% █+ {3}1\.80 s {2}parse +….*deep\/typescript\.js:7$/),
    at(/ 300 ms .* readFileUtf8 +\(native\)$/),
    at(/^functions, by time blocked in a call \(% of 600 ms of blocked time\)/),
    at(/ 600 ms 100\.0% █+ +20 ms {2}lint +src\/a\|b\.js:7$/),
    at(pattern`^${messages.functionsByTotal}, without Node's own`),
  ]
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: checks that there are none
  assert.ok(lines.every((line) => !/[\x00-\x1f]/.test(line)))
})

test('threads that do not fit are counted', () => {
  const text = renderText(exampleReport(), { ...VIEW, by: 'thread', top: 2 })
  // The main thread counts with the native threads of its process.
  assert.match(
    text,
    /\n {2}nx run-many \(41\) .*\n {2}eslint .*\n {2}and 2 more threads, 1\.00 s not idle\n$/,
  )
})

test('the process of a worker is named where its main thread has no row', () => {
  const report = exampleReport()
  const [first, second] = report.processes
  const idle = { ...first.threads[0], javascriptMs: 0, gcMs: 0, nativeMs: 0 }
  report.processes = [{ ...first, cpu: undefined, threads: [idle, first.threads[1]] }, second]
  const text = renderText(report, { ...VIEW, by: 'thread', top: 2 })
  assert.match(text, /\n {2}nx run-many worker 1: plugin\.js \(41\) /)
})

test('threads that look alike are told apart by the file that they worked on', () => {
  const report = exampleReport()
  const [, process] = report.processes
  const fork = (/** @type {number} */ pid, /** @type {string} */ ownFile) => ({
    ...process,
    pid,
    name: 'tinypool-process',
    command: 'tinypool-process',
    cwd: '/repo',
    threads: [{ ...process.threads[0], ownFile }],
  })
  report.processes = [fork(50, '/repo/test/a.test.ts'), fork(51, '/repo/test/b.test.ts')]
  const text = renderText(report, VIEW)
  assert.match(text, /tinypool-process · test\/a\.test\.ts \(50\)/)
  assert.match(text, /tinypool-process · test\/b\.test\.ts \(51\)/)
  report.processes[1].threads[0].ownFile = '/repo/test/a.test.ts'
  assert.match(renderText(report, VIEW), /tinypool-process \(50\)/)
  report.processes.pop()
  assert.match(renderText(report, VIEW), /tinypool-process \(50\)/)
})

test('a long place is cut before the label of its thread', () => {
  const report = exampleReport()
  const [first] = report.processes
  const worker = (/** @type {number} */ id, /** @type {string} */ ownFile) => ({
    ...first.threads[1],
    name: `worker ${id}: workers.js`,
    threadId: id,
    ownFile,
  })
  const folder = '/repo/packages/application/test'
  const workers = [worker(1, `${folder}/a.test.ts`), worker(2, `${folder}/b.test.ts`)]
  report.processes = [{ ...first, threads: [first.threads[0], ...workers] }]
  const text = renderText(report, VIEW)
  assert.match(text, /worker 1: workers\.js · …\S*\/a\.test\.ts/)
  assert.match(text, /worker 2: workers\.js · …\S*\/b\.test\.ts/)
})

test('a launcher has one row, and its work is not shared out', () => {
  const report = exampleReport()
  report.processes[0].launcher = true
  const text = renderText(report, VIEW)
  assert.match(text, /\n {2}nx run-many \(41\) /)
  assert.doesNotMatch(text, /plugin\.js/)
  assert.match(text, /% of 1\.95 s of work/)
})

test('times take eight columns at most', () => {
  const shown = [1.25, 61.2, 9_940, 99_900, 110_000, 3_599_400, 3_600_000, 360_000_000]
  assert.deepEqual(shown.map(formatTime), [
    '1.3 ms',
    '61 ms',
    '9.94 s',
    '99.9 s',
    '1m 50s',
    '59m 59s',
    '1h 00m',
    '100h 00m',
  ])
  for (let ms = 0.01; ms < 1e9; ms *= 1.1) assert.ok(formatTime(ms).length <= 8, formatTime(ms))
})

test('`by` selects the tables and `top` the number of rows', () => {
  const text = renderText(exampleReport(), { ...VIEW, by: 'function', top: 1 })
  assert.match(
    text,
    pattern`${messages.functionsBySelf}.*\n.*\n.* parse .*\n\n${messages.functionsByTotal} .*\n.*\n.*Module\._load`,
  )
  assert.equal(text.trimEnd().split('\n').length, 15)
})

test('FORCE_COLOR decides about colours, with and without a terminal', () => {
  const stream = (/** @type {boolean} */ isTTY) =>
    /** @type {any} */ ({ isTTY, columns: 80, hasColors: () => true })
  const colours = (/** @type {boolean} */ isTTY, /** @type {string} */ FORCE_COLOR) =>
    screen(stream(isTTY), { FORCE_COLOR }).colours
  assert.deepEqual(
    [screen(stream(true), {}).colours, screen(stream(false), {}).colours],
    [true, false],
  )
  assert.deepEqual(
    [colours(false, '1'), colours(false, ''), colours(true, '0')],
    [true, true, false],
  )
})

test('control characters and those that change the direction do not reach the terminal', () => {
  assert.equal(printable('a\x1b[2Jb\u202ec\u2066d\n'), 'a [2Jb c d ')
})

test('colours do not change the text', () => {
  const coloured = renderText(exampleReport(), { ...VIEW, colours: true })
  assert.ok(coloured.includes('\u001b['))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removes the colours
  assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), renderText(exampleReport(), VIEW))
})

/** Returns the columns of a text whose only wide characters are in these ranges. @param {string} text */
function columnsOf(text) {
  return text.replace(/[\u3000-\u9fff\uac00-\ud7a3]/g, '..').length
}

test('names in Chinese, Japanese and Korean keep the columns aligned', () => {
  const report = exampleReport()
  report.processes[1].command = '测试 src/検索'
  report.functions = [
    fn('parse', 1500, 1800),
    fn('解析する', 900, 1000),
    fn('한국어_함수', 800, 900, '/repo/日本語/検索.js'),
    fn('很长的名字'.repeat(20), 700, 800),
    fn('レポート', 600, 700, `/repo/${'深い/'.repeat(60)}検索.js`),
  ]
  for (const columns of [50, 72, 80, 100, 101, 160]) {
    const lines = renderText(report, { ...VIEW, columns, lines: 60 })
      .trimEnd()
      .split('\n')
    for (const line of lines) assert.ok(columnsOf(line) <= columns, `${columns}: ${line}`)
    const at = (/** @type {string} */ title) => lines.findIndex((line) => line.startsWith(title))
    const threads = lines.slice(at('processes and threads') + 1, at('packages, by total time') - 1)
    assert.equal(new Set(threads.map(columnsOf)).size, 1, threads.join('\n'))
    const table = lines.slice(at(messages.functionsBySelf) + 2, at(messages.functionsByTotal) - 1)
    const places = table.map((line) => columnsOf(line.slice(0, line.lastIndexOf(' '))))
    assert.equal(new Set(places).size, 1, table.join('\n'))
  }
})

test('a name is cut between whole characters', () => {
  const family = '👩\u200d👩\u200d👧'
  const report = exampleReport()
  report.functions = [
    fn('🚀'.repeat(100), 1500, 1800, `/repo/${'🚀'.repeat(100)}/a.js`),
    fn(family.repeat(50), 900, 1000, `/repo/${family.repeat(50)}/a.js`),
    fn('e\u0301'.repeat(150), 800, 900),
  ]
  for (let columns = 50; columns <= 110; columns++) {
    const text = renderText(report, { ...VIEW, columns })
    assert.ok(text.includes('🚀…') && text.includes('…🚀'))
    // Half of a surrogate pair would be decoded as another character.
    assert.equal(Buffer.from(text).toString(), text)
    assert.doesNotMatch(text.replaceAll(family, ''), /[👩👧\u200d]/u)
    assert.doesNotMatch(text.replaceAll('e\u0301', ''), /\u0301/)
  }
})

test('Markdown tables are complete and escaped', () => {
  const markdown = renderMarkdown(exampleReport(), { cwd: '/repo' })
  const tables = markdown.split('\n\n').filter((block) => block.startsWith('|'))
  assert.equal(tables.length, 6)
  for (const table of tables) {
    const widths = table
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/(?<!\\)\|/).length)
    assert.equal(new Set(widths).size, 1, table)
  }
  assert.match(markdown, /\| `lint` \| `src\/a\\\|b\.js:7` \| 20 ms \| 4\.00 s \| 0\.5% \|/)
  assert.match(
    markdown,
    /\| &nbsp;&nbsp;`worker 1: plugin\.js` \| 1\.00 s \| 1\.00 s \| 1\.00 s \| 10 ms \|/,
  )
})

test('lines have their function, their samples, and a place even where the line is unknown', () => {
  const text = renderText(exampleReport(), { ...VIEW, by: 'line' }).split('\n')
  assert.deepEqual(
    text.slice(4, 10).map((line) => line.replace(/[█▏▎▍▌▋▊▉ ]+/g, ' ').trim()),
    [
      'lines, by self time (% of 3.91 s of work)',
      'self samples',
      '1.00 s 25.6% 500 parse src/a|b.js:12',
      '500 ms 12.8% 250 lint src/a|b.js (unknown line)',
      '300 ms 7.7% 150 readFileUtf8 (native)',
      '',
    ],
  )
  assert.equal(text.length, 10)
  const markdown = renderMarkdown(exampleReport(), { cwd: '/repo', by: 'line' })
  assert.match(markdown, /\n\| function \| where \| self \| samples \| share of work \|\n/)
  assert.match(markdown, /\| `parse` \| `src\/a\\\|b\.js:12` \| 1\.00 s \| 500 \| 25\.6% \|/)
})

test('functions that only their columns tell apart have their columns', () => {
  const report = exampleReport()
  const minified = { ...fn('t', 700, 800), file: '/repo/dist/a.js', line: 1 }
  report.functions.unshift({ ...minified, column: 17 }, { ...minified, column: 2345 })
  const text = renderText(report, { ...VIEW, by: 'function' })
  assert.match(text, / t +dist\/a\.js:1:17\n.* t +dist\/a\.js:1:2345\n/)
  assert.doesNotMatch(text, /a\|b\.js:\d+:/)
})

test('owners are on the first screen if there are rules, plugins or test files', () => {
  const report = exampleReport()
  assert.doesNotMatch(renderText(report, VIEW), /owners/)
  const times = costs(900, 1000)
  report.owners.unshift(
    { kind: 'rule', name: 'react/jsx-key', ...times },
    { kind: 'test file', name: '/repo/src/a.test.js', ...times, selfMs: 500 },
  )
  const text = renderText(report, VIEW)
  assert.match(text, pattern`\nowners, ${messages.byOwner} \(% of 3\.91 s of work\)\n`)
  assert.match(text, /\n +900 ms +23\.0% █+ +1\.00 s {2}react\/jsx-key \(rule\)\n/)
  assert.match(text, /\n +500 ms .* {2}src\/a\.test\.js \(test file\)\n/)
  assert.match(text, /\n +400 ms .* {2}typescript\n/)
  const only = renderText(report, { ...VIEW, by: 'owner' })
  assert.doesNotMatch(only, /packages|functions/)
})
