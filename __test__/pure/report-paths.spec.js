'use strict'

// Callers and callees of a function, and the call tree.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { pathToFileURL } = require('node:url')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

/**
 * Writes a profile with known samples: 60 ms below 'often', on line 3, and 20 ms below 'seldom', on
 * line 4. A recorded program does not do: V8 counts an inlined function's time for its caller.
 */
function writeProfile() {
  const cwd = temporaryDirectory()
  const url = pathToFileURL(path.join(cwd, 'program.js')).href
  /** @type {[string, number, number[], Record<string, number>?][]} name, line, children, ticks */
  const frames = [
    ['(root)', 0, [2]],
    ['turns', 15, [3]],
    ['nest', 11, [4]],
    ['nest', 11, [5, 7]],
    ['often', 8, [6]],
    ['work', 2, [], { 3: 60 }],
    ['seldom', 5, [8]],
    ['work', 2, [], { 4: 20 }],
  ]
  const nodes = frames.map(([functionName, line, children, counts = {}], index) => {
    const place = { url: line === 0 ? '' : url, lineNumber: line - 1, columnNumber: -1 }
    const positionTicks = Object.entries(counts).map(([at, ticks]) => ({ line: Number(at), ticks }))
    const callFrame = { functionName, scriptId: '1', ...place }
    return { id: index + 1, callFrame, children, positionTicks }
  })
  const samples = Array.from({ length: 80 }, (_, index) => (index % 4 === 0 ? 8 : 6))
  const timeDeltas = samples.map(() => 1000)
  const profile = { nodes, startTime: 1, endTime: 1 + 81 * 1000, samples, timeDeltas }
  const file = path.join(cwd, 'work.cpuprofile')
  fs.writeFileSync(file, JSON.stringify(profile))
  return { cwd, file }
}

test('a function has its callers, callees, lines and processes', async () => {
  const { cwd, file } = writeProfile()
  const { details = [], functions } = await report(file, { function: 'WORK' })
  const [work, ...others] = details
  assert.deepEqual(others, [])
  assert.equal(work.name, 'work')
  assert.equal(work.file, path.join(cwd, 'program.js'))
  const inList = functions.find(({ name }) => name === 'work')
  assert.deepEqual([work.selfMs, work.totalMs], [80, 80])
  assert.deepEqual([inList?.selfMs, inList?.totalMs], [80, 80])
  /** @param {import('../../index.js').ReportCall[]} calls */
  const times = (calls) => calls.map(({ name, totalMs }) => [name, totalMs])
  assert.deepEqual(times(work.callers), [
    ['often', 60],
    ['seldom', 20],
  ])
  assert.deepEqual(
    work.lines.map(({ name, line, selfMs }) => [name, line, selfMs]),
    [
      ['work', 3, 60],
      ['work', 4, 20],
    ],
  )
  assert.deepEqual(
    work.processes.map(({ totalMs }) => totalMs),
    [80],
  )

  // Recursion counts once.
  const nest = (await report(file, { function: 'nest' })).details?.[0]
  assert.equal(nest?.totalMs, 80)
  assert.deepEqual(times(nest?.callers ?? []), [['turns', 80]])
  assert.deepEqual(times(nest?.callees ?? []), [
    ['often', 60],
    ['seldom', 20],
  ])

  const byPlace = await report(file, { function: 'program.js:8' })
  assert.equal(byPlace.details?.[0].name, 'often')
  const byPart = await report(file, { function: 'seld' })
  assert.equal(byPart.details?.[0].name, 'seldom')
  assert.deepEqual((await report(file, { function: 'absent' })).details, [])
  assert.equal((await report(file)).details, undefined)
})

test('the call tree has the paths with their times', async () => {
  const { file } = writeProfile()
  const { tree = [], functions } = await report(file, { tree: true })
  /** @param {import('../../index.js').ReportTreeNode[]} nodes @returns {import('../../index.js').ReportTreeNode[]} */
  const all = (nodes) => nodes.flatMap((node) => [node, ...all(node.children)])
  for (const { totalMs, selfMs, children } of all(tree)) {
    const sum = children.reduce((ms, child) => ms + child.totalMs, selfMs)
    assert.ok(sum <= totalMs + 0.01, `${sum} of ${totalMs} ms`)
  }
  const work = all(tree).filter(({ name }) => name === 'work')
  assert.deepEqual(
    work.map(({ totalMs }) => totalMs),
    [60, 20],
  )
  assert.equal(functions.find(({ name }) => name === 'work')?.totalMs, 80)
})

test('the command line shows both', async () => {
  const { cwd, file } = writeProfile()
  const detail = await cli(['report', file, '--function', 'often'], { cwd })
  assert.equal(detail.code, 0, detail.stderr)
  assert.match(detail.stdout, /^often {2}program\.js:8 \(% of .* of work\)\n.* total\n.* self\n/)
  assert.match(detail.stdout, /\ncallers.*\n.*% {2}nest {2}program\.js:11\n/)
  assert.match(detail.stdout, /\ncallees.*\n.*% {2}work {2}program\.js:2\n/)

  const tree = await cli(['report', file, '--tree'], { cwd })
  // One path leads to the recursion, which calls two functions.
  assert.match(tree.stdout, /\n.* {2}nest {2}program\.js:11 {2}\(below \d+ more\)\n/)
  assert.match(tree.stdout, /\n.* {4}work {2}program\.js:2 {2}\(below 1 more\)\n/)
  assert.ok(!tree.stdout.includes('turns'))
  for (const line of tree.stdout.split('\n')) assert.ok(line.length <= 100, line)

  const markdown = await cli(['report', file, '--tree', '--markdown'], { cwd })
  assert.match(markdown.stdout, /^```\ncall tree[^`]*```\n$/)
  const json = await cli(['report', file, '--function', 'often', '--json'], { cwd })
  assert.equal(JSON.parse(json.stdout).details[0].name, 'often')

  const absent = await cli(['report', file, '--function', 'absent'], { cwd })
  assert.equal(absent.code, 1)
  assert.match(absent.stderr, pattern`^cpu-prof: ${messages.noFunctionHas('absent')}`)
  const both = await cli(['report', file, '--function', 'often', '--tree'], { cwd })
  assert.equal(both.code, 2)
  for (const options of [{ function: '' }, { function: 7 }, { tree: 'yes' }]) {
    await assert.rejects(report(file, /** @type {any} */ (options)), /^TypeError: cpu-prof: /)
  }
})
