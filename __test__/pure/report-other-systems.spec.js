'use strict'

// Reports of recordings that were made on Windows and macOS, and the code that they may show.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { placeOf } = require('../../cli/page/data/names.js')
const { formatPath } = require('../../cli/terminal/format.js')
const { pageData } = require('../../lib/offline.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { SYSTEMS, SPANS, writeProgram } = require('../helpers/other-systems.js')
const { writeTrace } = require('../helpers/written.js')

const ALL = { top: Number.POSITIVE_INFINITY }

/** Returns the spans with V8's own names for the files, in place of URLs. @param {string} cwd */
function withPaths(cwd) {
  const frame = (/** @type {string} */ text) => {
    const [, name, file, line, column] = /(\S+) (\S+?):(\d+):?(\d*)/.exec(text) ?? []
    const whole = file.startsWith('node:') ? file : path.win32.join(cwd, file)
    return { name, file: whole, line: Number(line), column: Number(column) || 1 }
  }
  return SPANS.map(([stack, ms]) => {
    const frames = String(stack).split(' > ').map(frame)
    return /** @type {import('../helpers/written.js').Span} */ ([frames, ms])
  })
}

for (const [name, system] of Object.entries(SYSTEMS)) {
  test(`a recording of ${name} has its packages, owners, files and labels`, async () => {
    const folder = writeProgram(system, temporaryDirectory())
    const { functions, files, packages, owners, processes, scripts } = await report(folder, ALL)
    assert.deepEqual(
      packages.map(({ name, selfMs }) => [name, selfMs]),
      [
        ['(own code)', 60],
        ['lodash', 20],
        ['@babel/core', 15],
        ['node:', 10],
        ['vite-plugin-svgr', 5],
        ['vite', 0],
      ],
    )
    assert.deepEqual(
      owners.map(({ kind, name }) => [kind, name]).filter(([kind]) => kind === 'plugin'),
      [['plugin', 'vite-plugin-svgr']],
    )
    const parse = functions.find(({ name }) => name === 'parse')
    assert.equal(parse?.file, `${system.root}/src/parse.js`)
    assert.ok(files.some(({ file }) => file === `${system.root}/node_modules/lodash/chunk.js`))
    const main = processes.find(({ pid }) => pid === 8)
    assert.equal(main?.cwd, system.root)
    assert.equal(main?.threads[0].ownFile, `${system.root}/src/main.js`)
    assert.ok(processes.find(({ pid }) => pid === 7)?.launcher)
    assert.deepEqual(
      scripts.map(({ name, cwd }) => [name, cwd]),
      [['build', system.root]],
    )

    const found = await report(folder, { ...ALL, function: 'src/parse.js:5' })
    assert.equal(found.details?.[0].name, 'parse')
    const { stdout } = await cli(['report', folder])
    assert.match(stdout, /60 ms {2}54\.5% .*parse +\S.*\/src\/parse\.js:5\n/)
    assert.match(stdout, /110 ms 100\.0% .*60 ms {2}\(own code\)\n/)
    assert.ok(stdout.includes(`${system.root}/src/parse.js\n`), stdout)
  })

  test(`the page of a recording of ${name} has paths below the program's folder`, async () => {
    const folder = writeProgram(system, temporaryDirectory())
    const recording = readRecording(JSON.parse(await pageData([folder], {})))
    const places = recording.names.map((name, item) => `${name} ${placeOf(recording, item)}`)
    assert.ok(places.includes('parse src/parse.js:5'), places.join('\n'))
    assert.ok(places.includes('chunk node_modules/lodash/chunk.js:3'), places.join('\n'))
  })
}

test("V8's own names of files on Windows are those of their URLs", async () => {
  const { Windows, ...others } = SYSTEMS
  for (const system of [Windows, others['Windows, by a small drive letter']]) {
    const spans = [...SPANS, ...withPaths(system.cwd), ...withPaths(`\\\\?\\${system.cwd}`)]
    const folder = writeProgram(system, temporaryDirectory(), { spans })
    const { functions, counts, packages } = await report(folder, ALL)
    // `main` and `handler` have no time of their own.
    assert.deepEqual([functions.length, counts.functions], [7, 7])
    assert.equal(functions[0].file, `${Windows.root}/src/parse.js`)
    const { name, selfMs, totalMs } = packages[0]
    assert.deepEqual([name, selfMs, totalMs], ['(own code)', 180, 330])
  }
})

test('filters take backslashes for the separators of Windows only', async () => {
  const time = async (
    /** @type {import('../helpers/other-systems.js').System} */ system,
    options = {},
  ) => (await report(writeProgram(system, temporaryDirectory()), options)).totals.javascriptMs
  const { Windows, Linux } = /** @type {any} */ (SYSTEMS)
  assert.equal(await time(Windows, { focus: 'src\\parse' }), 60)
  assert.equal(await time(Windows, { focus: 'c:\\users\\zoë\\my repo\\src\\parse.js' }), 60)
  assert.equal(await time(Windows, { ignore: 'src/parse' }), 50)
  await assert.rejects(time(Linux, { focus: 'src\\parse' }), pattern`${messages.nothingMatches}`)
})

test('paths are shortened by a folder of the same system', () => {
  for (const [file, cwd, shown] of [
    ['C:/repo/src/a.js', 'C:\\repo', 'src/a.js'],
    ['C:/Repo/src/a.js', 'c:\\repo', 'src/a.js'],
    ['C:/repo/a.js', 'C:\\repo\\packages\\b', '../../a.js'],
    ['C:\\repo\\profiles\\a.json', 'C:\\repo', 'profiles\\a.json'],
    ['D:/repo/a.js', 'C:\\repo', 'D:/repo/a.js'],
    ['//server/share/repo/a.js', '\\\\server\\share\\repo', 'a.js'],
    ['C:/repo/src/a.js', '/repo', 'C:/repo/src/a.js'],
    ['/repo/src/a.js', 'C:\\repo', '/repo/src/a.js'],
    ['/repo/src/a\\b.js', '/repo', 'src/a\\b.js'],
    ['webpack://app/a.js', '/repo', 'webpack://app/a.js'],
    ['/repo/a.js', '', '/repo/a.js'],
  ]) {
    assert.equal(formatPath(file, cwd), shown)
  }
})

test('code of another system or machine is not shown, and the report says why', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'package.json'), '{}')
  // What a path of Windows would be, below the working directory.
  const below = path.join(cwd, 'C:', 'repo', 'a.js')
  fs.mkdirSync(path.dirname(below), { recursive: true })
  fs.writeFileSync(below, 'function f() { secret() }\n')
  // What a share would be, with the slashes of a single system.
  fs.writeFileSync(path.join(cwd, 'b.js'), 'function f() { secret() }\n')
  const file = writeTrace(path.join(cwd, 'a.trace.json'), {
    cwd,
    spans: [
      [[{ name: 'f', file: 'file:///C:/repo/a.js', line: 1, column: 11, at: 1 }], 10],
      [[{ name: 'f', file: '\\\\server\\share\\b.js', line: 1, column: 11, at: 1 }], 9],
      [[{ name: 'f', file: `file:///${cwd}/b.js`, line: 1, column: 11, at: 1 }], 8],
      [[{ name: 'f', file: 'file://./pipe/x.js', line: 1, column: 11, at: 1 }], 7],
    ],
  })
  const { stdout } = await cli(['report', file, '--code'], { cwd })
  assert.match(stdout, /not shown: C:\/repo\/a\.js \(paths of another system; to see it, run/)
  const others = `//server/share/b.js, /${cwd}/b.js, //./pipe/x.js`
  assert.ok(stdout.includes(`not shown: ${others} (not on a local disk;`), stdout)
  assert.doesNotMatch(stdout, /secret/)
})

test('code with the line ends of Windows and of old Macs is shown by its lines', async () => {
  for (const end of ['\r\n', '\r', '\n']) {
    const cwd = temporaryDirectory()
    fs.writeFileSync(path.join(cwd, 'package.json'), '{}')
    const code = ['// a comment', '', 'function hot() {', '  work(1)', '  work(2)', '}', '']
    fs.writeFileSync(path.join(cwd, 'a.js'), code.join(end))
    const spans = [['hot a.js:3:13@5', 30]]
    const file = writeTrace(path.join(cwd, 'a.trace.json'), {
      cwd,
      spans: /** @type {import('../helpers/written.js').Span[]} */ (spans),
    })
    for (const format of [[], ['--markdown'], ['--json']]) {
      const { stdout, stderr } = await cli(['report', file, '--code', ...format], { cwd })
      assert.doesNotMatch(`${stdout}${stderr}`, /\r|\\r/)
      if (format.length === 0) {
        assert.match(stdout, /4 {2} {2}work\(1\)\n.*30 ms {2}5 {2} {2}work\(2\)\n.*6 {2}\}\n/)
      }
    }
  }
})
