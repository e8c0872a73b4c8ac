'use strict'

// Names that stay the same: of packages whose code is elsewhere, of files that are loaded anew, of plugins
// and of processes in several runs.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { compare, merge, report } = require('../../index.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Span} Span */

const ALL = { top: Number.POSITIVE_INFINITY }

/** Writes a recording into a folder. @param {Span[]} spans */
function write(spans) {
  const cwd = temporaryDirectory()
  return { cwd, file: writeTrace(path.join(cwd, 'a.trace.json'), { cwd, spans }) }
}

test('WebAssembly belongs to the package whose code calls it', async () => {
  const glue = 'parse node_modules/wasm-lib/glue.js:4:9'
  const { file } = write([
    [`main main.js:1:1 > ${glue} > wasm-function[7] wasm://wasm/0d1f2a:1:99`, 30],
    ['main main.js:1:1 > wasm-function[3] wasm://wasm/00aa:1:9', 5],
  ])
  const { owners, packages } = await report(file, ALL)
  for (const list of [owners, packages]) {
    const times = list.map(({ name, selfMs }) => [name, selfMs])
    assert.deepEqual(times, [
      ['wasm-lib', 30],
      ['(own code)', 5],
    ])
  }
  const only = await report(file, { ...ALL, package: 'wasm-lib' })
  assert.equal(only.totals.javascriptMs, 30)
})

test('a file that was loaded several times is one file', async () => {
  const { cwd, file } = write([
    ['f a.mjs?t=1795556421468:3:9', 5],
    ['f a.mjs?t=1795556421999:3:9', 7],
  ])
  const { functions } = await report(file, ALL)
  assert.deepEqual(
    functions.map(({ name, file, selfMs }) => [name, file, selfMs]),
    [['f', path.join(cwd, 'a.mjs'), 12]],
  )
})

/**
 * Writes the recordings of a program that `node:cluster` has started twice, and returns their folder.
 * @param {(id: number) => Span[]} spansOf of the primary (0) and the workers
 */
function writeCluster(spansOf) {
  const cwd = temporaryDirectory()
  const label = 'web.js'
  for (const id of [0, 1, 2]) {
    const name = path.join(cwd, `${id}.trace.json`)
    const start = 1e9 + id
    const ids = { pid: 7 + id, ppid: id === 0 ? 1 : 7 }
    writeTrace(name, { ...ids, cwd, label, start, argv: ['-p'], spans: spansOf(id) })
    if (id === 0) continue
    const text = fs
      .readFileSync(name, 'utf8')
      .replace('"cpu-prof":{', `"cpu-prof":{"clusterWorker":${id},`)
      .replaceAll('web.js (pid', `web.js worker ${id} (pid`)
      .replace('web.js: ', `web.js: worker ${id} `)
    fs.writeFileSync(name, text)
  }
  return cwd
}

test('processes of node:cluster have their roles', async () => {
  const cwd = writeCluster(() => [['work web.js:1:1', 10]])
  const names = async (/** @type {string} */ input) =>
    (await report(input)).processes.map(({ name, command }) => [name, command])
  const expected = [
    ['web.js primary', 'web.js primary -p'],
    ['web.js worker 1', 'web.js worker 1 -p'],
    ['web.js worker 2', 'web.js worker 2 -p'],
  ]
  assert.deepEqual(await names(cwd), expected)
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge(cwd, merged)
  assert.deepEqual(await names(merged), expected)
  assert.match(fs.readFileSync(merged, 'utf8'), /"url":"web\.js: primary -p \(pid 7\)"/)
})

test('two runs in two folders have the same plugins, files and processes', async () => {
  const site = '(anonymous) node_modules/rollup/dist/shared/rollup.js:3771:19'
  const run = (/** @type {number} */ time) =>
    writeCluster((id) => [
      [`${site} > transform tools/slow.mjs:3:9`, 100],
      [`load a.mjs?t=${time + id}:3:9`, 50],
    ])
  const { rows } = await compare(run(1795556421468), run(1795556499999))
  const names = rows
    .filter(
      ({ kind, measure }) => ['owner', 'process', 'file'].includes(kind) && measure !== 'total',
    )
    .map(({ kind, owner, name, base, head }) => {
      assert.ok(base > 0 && head > 0, `${kind} ${name} is in one run only`)
      return `${owner ?? kind} ${name}`
    })
  for (const name of ['plugin tools/slow.mjs', 'file a.mjs', 'process web.js worker 2 -p']) {
    assert.ok(names.includes(name), `${name} in ${names.join()}`)
  }
})
