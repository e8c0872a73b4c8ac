'use strict'

// Native functions that a recording has by their addresses: their modules, and the folders with their symbols.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')

/** Writes a profile of native functions below one of JavaScript. @param {Record<string, string>} native urls by names */
function write(native) {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'a.cpuprofile')
  const none = { scriptId: '0', url: '', lineNumber: -1, columnNumber: -1 }
  const functions = Object.entries(native).map(([functionName, url], at) => ({
    id: 3 + at,
    callFrame: { ...none, functionName, scriptId: '9', url, origin: 'module', buildId: 'abcdef01' },
  }))
  const ids = functions.map(({ id }) => id)
  const work = {
    functionName: 'work',
    scriptId: '5',
    url: '/r/a.js',
    lineNumber: 1,
    columnNumber: 1,
  }
  const nodes = [
    { id: 1, callFrame: { ...none, functionName: '(root)' }, children: [2] },
    { id: 2, callFrame: work, children: ids },
    ...functions,
  ]
  const samples = [2, ...ids]
  const profile = {
    nodes,
    samples,
    timeDeltas: samples.map(() => 1000),
    startTime: 1,
    endTime: 9999,
  }
  fs.writeFileSync(file, JSON.stringify(profile))
  return { cwd, file }
}

test('native functions are summed by the library that they are of', async () => {
  const { cwd, file } = write({
    uv_run: '/opt/node',
    EVP_DigestUpdate: '/opt/node',
    memcpy: '/lib/libc.so.6',
    f: '/r/node_modules/swc/swc.linux-x64-gnu.node',
  })
  const { modules = [] } = await report(file)
  assert.deepEqual(modules.map(({ name }) => name).sort(), ['OpenSSL', 'libc', 'libuv', 'swc'])
  const { stdout } = await cli(['report', file, '--by', 'module'], { cwd })
  assert.match(stdout, /modules, by self time/)
  assert.match(stdout, /libuv/)
  const json = JSON.parse((await cli(['report', file, '--by', 'module', '--json'], { cwd })).stdout)
  assert.deepEqual([json.modules.length, json.functions], [4, undefined])
})

test('a recording without native functions has no modules', async () => {
  const { cwd, file } = write({})
  assert.equal((await report(file)).modules, undefined)
  const failed = await cli(['report', file, '--by', 'module'], { cwd })
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /no native functions were recorded/)
  const json = await cli(['report', file, '--by', 'module', '--json'], { cwd })
  assert.deepEqual(JSON.parse(json.stdout).modules, [])
})

test('functions without a name keep their addresses, and the report says what finds names', async () => {
  const { cwd, file } = write({ 'x.node+0x1a2b': '/absent/x.node' })
  const { functions, notes } = await report(file, { symbols: cwd })
  assert.ok(functions.some(({ name }) => name === 'x.node+0x1a2b'))
  assert.match(notes.join(), /not on this machine: \/absent\/x.node; .*--symbols <folder>/)
  const given = ['--symbols', cwd, '--symbols', path.join(cwd, 'absent'), '--no-source-maps']
  const { stderr } = await cli(['report', file, ...given], { cwd })
  assert.match(stderr, /not on this machine: \/absent\/x.node/)
  await assert.rejects(report(file, { symbols: /** @type {any} */ (5) }), /path of a folder/)
})
