'use strict'

const assert = require('node:assert/strict')
const test = require('node:test')
const { cli } = require('./helpers/cli.js')
const { run, temporaryDirectory } = require('./helpers/run.js')
const { renderText } = require('../cli/report/text.js')
const { renderMarkdown } = require('../cli/report/markdown.js')

/** @param {number} threadId @param {string} name @param {number[]} times */
function thread(threadId, name, [startMs, durationMs, busyMs, gcMs, programMs, idleMs]) {
  const samples = 10
  return { threadId, name, startMs, durationMs, busyMs, gcMs, programMs, idleMs, samples }
}

/** @param {string} name @param {number} selfMs @param {number} totalMs */
function fn(
  name,
  selfMs,
  totalMs,
  file = '/repo/src/a|b.js',
  line = 7,
  packageName = '(own code)',
) {
  return { name, file, line, column: 1, package: packageName, selfMs, totalMs }
}

/** @param {string} name @param {number} selfMs @param {string} file @param {number} line */
function ln(name, selfMs, file, line) {
  return { name, file, line, package: '(own code)', selfMs, samples: selfMs / 2 }
}

/** @returns {import('../index.js').Report} */
function exampleReport() {
  const times = { startMs: 0, durationMs: 4000 }
  return {
    version: 1,
    durationMs: 4000,
    totals: { busyMs: 5000, gcMs: 100, programMs: 20, idleMs: 3000 },
    processes: [
      {
        ...{ pid: 41, name: 'nx', command: 'nx run-many', cwd: '/repo', ...times },
        threads: [
          thread(0, 'main', [0, 4000, 900, 50, 10, 3000]),
          thread(1, 'worker 1: plugin.js', [1000, 1000, 990, 10, 0, 0]),
          thread(2, 'worker 2: idle.js', [1000, 3000, 1, 0, 0, 2999]),
        ],
      },
      {
        ...{ pid: 42, name: 'eslint', command: `eslint ${'x'.repeat(200)}`, ...times },
        ...{ cwd: '/repo/packages/a', parentPid: 41 },
        threads: [thread(0, 'main', [2000, 2000, 1900, 40, 10, 0])],
      },
    ],
    functions: [
      fn('parse', 1500, 1800, `/repo/node_modules/${'deep/'.repeat(40)}typescript.js`),
      fn('Module._load', 10, 4900, 'node:internal/modules/cjs/loader', 1003, 'node:'),
      fn('lint', 20, 4000),
      fn('red \u001b[31m\nline', 5, 5),
      fn('readFileUtf8', 300, 300, '', 0, '(native)'),
    ],
    lines: [
      ln('parse', 1000, '/repo/src/a|b.js', 12),
      ln('lint', 500, '/repo/src/a|b.js', 0),
      ln('readFileUtf8', 300, '', 0),
    ],
    files: [{ file: '/repo/src/a|b.js', package: '(own code)', selfMs: 25, totalMs: 4000 }],
    packages: [
      { name: 'typescript', selfMs: 1500, totalMs: 1800 },
      { name: '(own code)', selfMs: 25, totalMs: 4000 },
    ],
    counts: { functions: 5, lines: 3, files: 1, packages: 2 },
    ...{ inputs: 4, repaired: [], failed: [], notes: [] },
  }
}

const VIEW = { columns: 100, lines: 40, colours: false, cwd: '/repo' }

test('the text fits any width and height', () => {
  for (const columns of [50, 64, 72, 80, 100, 160]) {
    for (const lines of [10, 24, 50]) {
      const text = renderText(exampleReport(), { ...VIEW, columns, lines })
      const drawn = text.trimEnd().split('\n')
      for (const line of drawn) assert.ok(line.length <= columns, `${columns}: ${line}`)
      // Every table keeps a few rows.
      assert.ok(drawn.length <= Math.max(lines, 28), `${drawn.length} lines for ${lines}`)
    }
  }
})

test('the text shows threads in order, then hot functions with their places', () => {
  const lines = renderText(exampleReport(), VIEW).split('\n')
  assert.match(
    lines[0],
    /^4\.00 s · 2 processes, 4 threads · busy 5\.00 s, gc 100 ms, .*idle 3\.00 s$/,
  )
  const at = (/** @type {RegExp} */ pattern) => {
    const found = lines.findIndex((line) => pattern.test(line))
    assert.ok(found >= 0, `${pattern} is not in\n${lines.join('\n')}`)
    return found
  }
  const order = [
    at(/^ {2}nx run-many \(41\) +░{4,} +900 ms +50 ms +10 ms +3\.00 s$/),
    at(/^ {4}worker 1: plugin\.js +█+ +990 ms/),
    at(/^ {4}worker 2: idle\.js +░+ +1\.0 ms/),
    at(/^ {2}eslint x+… · packages\/a \(42\) +█+ +1\.90 s/),
    at(/^functions, by self time/),
    at(/ 1\.50 s {2}29\.3% █+ {3}1\.80 s {2}parse +….*deep\/typescript\.js:7$/),
    at(/ 300 ms .* readFileUtf8 +\(native\)$/),
    at(/^functions, by total time, without Node's own/),
    at(/ 4\.00 s {2}78\.1% █+ +20 ms {2}lint +src\/a\|b\.js:7$/),
    at(/^packages, by self time/),
    at(/ 1\.50 s .* typescript$/),
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
  assert.match(text, /eslint .*\n {2}and 2 more threads, 961 ms not idle\n$/)
  // The main thread of the worker's process is not shown, so the process is named here.
  assert.match(text, /\n {2}nx run-many worker 1: plugin\.js \(41\) /)
})

test('`by` selects the tables and `top` the number of rows', () => {
  const text = renderText(exampleReport(), { ...VIEW, by: 'function', top: 1 })
  assert.match(
    text,
    /functions, by self time\n.*\n.* parse .*\n\nfunctions, by total time\n.*\n.*Module\._load/,
  )
  assert.equal(text.trimEnd().split('\n').length, 9)
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
    const lines = renderText(report, { ...VIEW, columns, lines: 50 })
      .trimEnd()
      .split('\n')
    for (const line of lines) assert.ok(columnsOf(line) <= columns, `${columns}: ${line}`)
    const at = (/** @type {string} */ title) => lines.findIndex((line) => line.startsWith(title))
    const threads = lines.slice(at('processes and threads') + 1, at('functions, by self time') - 1)
    assert.equal(new Set(threads.map(columnsOf)).size, 1, threads.join('\n'))
    const table = lines.slice(at('functions, by self time') + 2, at('functions, by total time') - 1)
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
  assert.equal(tables.length, 4)
  for (const table of tables) {
    const widths = table
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/(?<!\\)\|/).length)
    assert.equal(new Set(widths).size, 1, table)
  }
  assert.match(markdown, /\| `lint` \| `src\/a\\\|b\.js:7` \| 20 ms \| 4\.00 s \| 78\.1% \|/)
  assert.match(markdown, /\| &nbsp;&nbsp;worker 1: plugin\.js \| 1\.00 s \| 1\.00 s \| 990 ms \|/)
})

test('lines have their function, their samples, and a place even where the line is unknown', () => {
  const text = renderText(exampleReport(), { ...VIEW, by: 'line' }).split('\n')
  assert.deepEqual(
    text.slice(2, 8).map((line) => line.replace(/[█▏▎▍▌▋▊▉ ]+/g, ' ').trim()),
    [
      'lines, by self time',
      'self samples',
      '1.00 s 19.5% 500 parse src/a|b.js:12',
      '500 ms 9.8% 250 lint src/a|b.js (unknown line)',
      '300 ms 5.9% 150 readFileUtf8 (native)',
      '',
    ],
  )
  assert.equal(text.length, 8)
  const markdown = renderMarkdown(exampleReport(), { cwd: '/repo', by: 'line' })
  assert.match(markdown, /\n\| function \| where \| self \| samples \| share \|\n/)
  assert.match(markdown, /\| `parse` \| `src\/a\\\|b\.js:12` \| 1\.00 s \| 500 \| 19\.5% \|/)
})

test('report prints text, Markdown or JSON of a real run on stdout', async () => {
  const { cwd, pid } = await run(['workers.js', 'natural'])
  const text = await cli(['report', '.'], { cwd })
  assert.equal(text.code, 0)
  assert.equal(text.stderr, '')
  assert.match(text.stdout, /1 process, 3 threads/)
  assert.match(text.stdout, new RegExp(`workers natural .*\\(${pid}\\)`))
  assert.match(text.stdout, /worker 1: workers\.js/)
  assert.match(text.stdout, / spin +\S*spin\.js:\d+\n/)
  assert.ok(text.stdout.split('\n').every((line) => line.length <= 100))
  const narrow = await cli(['report', '.', '--by', 'file'], { cwd, env: { COLUMNS: '60' } })
  assert.match(narrow.stdout, /spin\.js\n/)
  assert.ok(narrow.stdout.split('\n').every((line) => line.length <= 60))
  const lines = await cli(['report', '.', '--by', 'line'], { cwd })
  assert.match(lines.stdout, /\nlines, by self time\n +self +samples\n/)
  assert.match(lines.stdout, / (spin|burn) +\S*spin\.js:\d+\n/)

  const markdown = await cli(['report', '.', '--markdown', '--by', 'package'], { cwd })
  assert.match(markdown.stdout, /\n### Packages, by self time\n\n\| package \| self /)
  const json = JSON.parse((await cli(['report', '.', '--json', '--top', '3'], { cwd })).stdout)
  assert.equal(json.version, 1)
  assert.equal(json.processes[0].threads.length, 3)
  assert.ok(json.functions.length <= 6)
})

test('inputs that cannot be read are named; exit code 1 if there are no others', async () => {
  const nothing = await cli(['report', 'missing'])
  assert.equal(nothing.code, 1)
  assert.match(nothing.stderr, /^cpu-prof: .*missing.*\n$/)
  assert.equal(nothing.stdout, '')
  const empty = await cli(['report', '.'], { cwd: temporaryDirectory() })
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /^cpu-prof: .+\n$/)

  const { cwd } = await run(['-e', '0'])
  const some = await cli(['report', '.', 'missing.json'], { cwd })
  assert.equal(some.code, 0)
  assert.match(some.stderr, /^cpu-prof: left out \S*missing\.json: .+\n$/)
})

test('contradictory or invalid options are wrong usage', async () => {
  for (const args of [
    ['--json', '--markdown'],
    ['--json', '--by', 'file'],
    ['--by', 'stack'],
    ['--top', '0'],
    ['--top', 'all'],
    ['--from', 'noon'],
  ]) {
    const { code, stderr } = await cli(['report', '.', ...args])
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, /^cpu-prof: /)
  }
})
