'use strict'

// Recordings of Windows and macOS, merged, checked and converted.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, convert, merge, report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { readMerged } = require('../helpers/merged.js')
const { SYSTEMS, writeProgram } = require('../helpers/other-systems.js')
const { readJson } = require('../helpers/times.js')
const { writeTrace } = require('../helpers/written.js')

const ALL = { top: Number.POSITIVE_INFINITY }

for (const [name, system] of Object.entries(SYSTEMS)) {
  test(`recordings of ${name} are merged, checked and converted without a loss`, async () => {
    const folder = writeProgram(system, temporaryDirectory())
    const merged = path.join(folder, 'merged', 'trace.json')
    fs.mkdirSync(path.dirname(merged))
    await merge(folder, merged)
    assert.deepEqual((await check(merged)).files[0].problems, [])
    const { processes } = readJson(merged).metadata['cpu-prof']
    assert.equal(processes[1].cwd, system.cwd)
    await readMerged(merged)

    const before = await report(folder, ALL)
    const after = await report(merged, ALL)
    assert.deepEqual(after.functions, before.functions)
    /** @param {import('../../index.js').Report} report */
    const labels = ({ processes }) =>
      processes.map(({ cwd, command, threads }) => [cwd, command, ...threads.map((t) => t.name)])
    assert.deepEqual(labels(after), labels(before))
    assert.deepEqual(
      after.processes.map(({ cwd }) => cwd),
      [system.root, system.root],
    )
    assert.ok(JSON.stringify(labels(after)).includes(JSON.stringify(system.node).slice(1, -1)))

    const profile = path.join(folder, 'merged', 'main.cpuprofile')
    await convert(path.join(folder, 'main.trace.json'), profile)
    assert.deepEqual((await check(profile)).files[0].problems, [])
    assert.deepEqual((await report(profile, ALL)).functions, before.functions)

    const speedscope = path.join(folder, 'merged', 'main.speedscope.json')
    await convert(path.join(folder, 'main.trace.json'), speedscope)
    const { frames } = readJson(speedscope).shared
    const parse = frames.find((/** @type {any} */ frame) => frame.name === 'parse')
    assert.equal(parse.file, `${system.root}/src/parse.js`)

    const collapsed = path.join(folder, 'merged', 'main.collapsed.txt')
    await convert(path.join(folder, 'main.trace.json'), collapsed)
    const stacks = fs.readFileSync(collapsed, 'utf8')
    assert.match(stacks, /;main \(src\/main\.js:1\);parse \(src\/parse\.js:5\) \d+\n/)
  })
}

test("V8's names of files on Windows become the URLs that Node gives them", async () => {
  const folder = temporaryDirectory()
  for (const [file, url] of [
    ['C:\\my repo\\100%\\#1é.js', 'file:///C:/my%20repo/100%25/%231%C3%A9.js'],
    ['c:\\repo\\a.js', 'file:///c:/repo/a.js'],
    ['\\\\SERVER\\share\\a.js', 'file://server/share/a.js'],
    ['\\\\?\\C:\\long\\a.js', 'file:///C:/long/a.js'],
    ['\\\\?\\UNC\\server\\share\\a.js', 'file://server/share/a.js'],
  ]) {
    const trace = writeTrace(path.join(folder, 'a.trace.json'), {
      spans: [[[{ name: 'f', file, line: 1 }], 5]],
    })
    const profile = path.join(folder, 'a.cpuprofile')
    await convert(trace, profile)
    const { nodes } = readJson(profile)
    const { callFrame } = nodes.find(
      (/** @type {any} */ node) => node.callFrame.functionName === 'f',
    )
    assert.equal(callFrame.url, url)
    fs.rmSync(profile)
  }
})

test('tasks of a monorepo on Windows are told apart by their folders', async () => {
  const folder = temporaryDirectory()
  for (const [pid, name] of /** @type {[number, string][]} */ ([
    [7, 'app'],
    [8, 'parser'],
  ])) {
    writeTrace(path.join(folder, `${name}.trace.json`), {
      pid,
      label: 'build.js',
      processStartMs: pid,
      cwd: `${pid === 7 ? 'C' : 'c'}:\\repo\\packages\\${name}`,
    })
  }
  const merged = path.join(folder, 'trace.json')
  await merge(folder, merged)
  const text = fs.readFileSync(merged, 'utf8')
  for (const label of ['build.js: · app (pid 7)', 'build.js: · parser (pid 8)']) {
    assert.ok(text.includes(JSON.stringify(label).replace('·', '\\u00b7')), label)
  }
  // A report shows the command without the place.
  const { processes } = await report(merged)
  assert.deepEqual(
    processes.map(({ command, cwd }) => [command, cwd]),
    [
      ['build.js', 'C:/repo/packages/app'],
      ['build.js', 'C:/repo/packages/parser'],
    ],
  )
})
