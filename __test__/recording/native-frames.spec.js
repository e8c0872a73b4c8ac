'use strict'

// The category native: native functions above those of JavaScript.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { merge, report } = require('../..')
const { cli } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { nativeStacks } = require('../helpers/native-stacks.js')
const { run, temporaryDirectory, PACKAGE, SOURCE } = require('../helpers/run.js')

const { header } = /** @type {any} */ (process.report?.getReport() ?? {})
const SKIP =
  (header?.glibcVersionRuntime === undefined && 'native stacks are read on Linux with glibc') ||
  (!/^(x64|arm64)$/.test(process.arch) && 'native stacks are read on x64 and arm64') ||
  (SOURCE !== 'v8' && 'native stacks belong to samples of V8')

const ADDON = path.join(PACKAGE, 'target', 'debug', 'examples', 'libnative.so')
const ENV = { CPU_PROF_CATEGORIES: 'cpu,native' }

/** Work of Node in native code, each in a function of its name. */
const WORK = `
  const crypto = require('node:crypto'), zlib = require('node:zlib')
  const list = Array.from({ length: 20000 }, (_, id) => ({ id, name: 'n' + id }))
  const text = JSON.stringify(list), bytes = Buffer.from(text)
  const work = {
    parse() { JSON.parse(text) },
    compress() { zlib.gunzipSync(zlib.gzipSync(bytes)) },
    hash() { crypto.createHash('sha256').update(bytes).digest(); crypto.createHash('sha512').update(bytes).digest() },
    derive() { crypto.pbkdf2Sync('a', 'b', 3000, 64, 'sha512') },
    encode() { bytes.toString('base64'); bytes.indexOf('~~~'); bytes.toString('utf8') },
  }
  for (const name of Object.keys(work)) {
    const end = Date.now() + 500
    while (Date.now() < end) work[name]()
  }`

test('native functions stand above the JavaScript that called them', { skip: SKIP }, async () => {
  const { traces, stderr } = await run(['-e', WORK], { env: ENV })
  assert.equal(stderr, '')
  for (const name of ['parse', 'compress', 'hash', 'derive', 'encode']) {
    const { native, cut, ms } = nativeStacks(traces[0], name)
    // Each worked for half a second, less what collections and other programs took, mostly in native code.
    assert.ok(ms > 80, `${name}: ${ms} ms`)
    assert.ok(native > 0.5, `${name}: ${native} in native code`)
    assert.ok(cut < 0.03, `${name}: ${cut} of the native stacks are cut`)
  }
})

test('a chain of calls that is known is shown as it is', { skip: SKIP }, async () => {
  const source = `
    const addon = { exports: {} }
    process.dlopen(addon, ${JSON.stringify(ADDON)})
    const { first, second } = addon.exports
    function one() { first() }
    function other() { second() }
    const end = Date.now() + 1200
    while (Date.now() < end) { one(); other() }`
  const { traces } = await run(['-e', source], { env: { ...ENV, NATIVE: 'functions' } })
  const { chains } = nativeStacks(traces[0], 'one')
  const { chains: others } = nativeStacks(traces[0], 'other')
  // The addon's functions by their addresses, from the caller on: first, four times outer, inner.
  const ofAddon = (/** @type {{ module: string, address: string }[]} */ chain) =>
    chain.filter(({ module }) => module.endsWith('libnative.so')).map(({ address }) => address)
  const longest = (/** @type {any[][]} */ list) =>
    list.map(ofAddon).sort((a, b) => b.length - a.length)[0]
  const [first, ...rest] = longest(chains)
  const outer = rest.slice(0, 4)
  assert.ok(rest.length >= 5, JSON.stringify(rest))
  assert.equal(new Set(outer).size, 1, JSON.stringify(rest))
  assert.notEqual(first, outer[0])
  const inner = rest[4]
  for (const chain of chains.map(ofAddon).filter((chain) => chain.length > 5)) {
    assert.deepEqual(chain.slice(0, 6), [first, ...outer, inner])
  }
  const second = longest(others)
  assert.equal(second[1], inner)
  assert.ok(second[0] !== first && second[0] !== outer[0])
})

test('V8 takes the functions of an addon for one, which has no name of its own', {
  skip: SKIP,
}, async () => {
  const source = `
    const cpuProf = require(${JSON.stringify(PACKAGE)})
    const addon = { exports: {} }
    process.dlopen(addon, ${JSON.stringify(ADDON)})
    const { first, second } = addon.exports
    require.cache['/addon.node'] = addon
    // Objects that have survived are found in another order.
    gc(); gc()
    cpuProf.start()
    function one() { first() }
    function other() { second() }
    const end = Date.now() + 600
    while (Date.now() < end) { one(); other() }
    cpuProf.stop()`
  const { traces } = await run(['--expose-gc', '-e', source], {
    env: { NATIVE: 'functions' },
    preload: null,
  })
  const names = new Set()
  const { nodes, samples } = traces[0]
  for (const { node } of samples) {
    for (let at = node; at !== undefined; at = nodes.get(at.parent)) {
      const caller = nodes.get(at.parent)?.callFrame.functionName
      if (caller === 'one' || caller === 'other') names.add(at.callFrame.functionName)
    }
  }
  assert.deepEqual([...names].sort(), ['(native addon)'])
})

test('workers have native functions, and one that is terminated keeps them', {
  skip: SKIP,
}, async () => {
  const source = `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads')
    const text = JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id })))
    function parse() { JSON.parse(text) }
    if (isMainThread) {
      const worker = new Worker(__filename)
      worker.on('message', () => worker.terminate())
    } else {
      const end = Date.now() + 900
      while (Date.now() < end) parse()
      parentPort.postMessage('worked')
      for (;;) parse()
    }`
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'work.js')
  fs.writeFileSync(file, source)
  const { traces } = await run([file], { env: ENV, cwd })
  const { native, cut } = nativeStacks(traces[1], 'parse')
  assert.ok(native > 0.5 && cut < 0.03, JSON.stringify({ native, cut }))
})

test('a line has the time of the native functions that it calls, also in a source and a merged trace', {
  skip: SKIP,
}, async () => {
  const lines = [
    'interface Item { id: number }',
    '',
    'const text: string = JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id })))',
    '',
    'function load(end: number): number {',
    '  let count = 0',
    '  while (Date.now() < end) {',
    '    count += (JSON.parse(text) as Item[]).length',
    '  }',
    '  return count',
    '}',
    'load(Date.now() + 700)',
  ]
  const cwd = temporaryDirectory()
  const source = path.join(cwd, 'load.ts')
  fs.writeFileSync(source, lines.join('\n'))
  const { outputText } = ts.transpileModule(lines.join('\n'), {
    fileName: source,
    compilerOptions: { inlineSourceMap: true, target: ts.ScriptTarget.ES2022 },
  })
  fs.writeFileSync(path.join(cwd, 'load.js'), outputText)
  const { files } = await run([path.join(cwd, 'load.js')], { cwd, env: ENV })
  const merged = path.join(temporaryDirectory(), 'merged.trace.json')
  await merge(files, merged)
  for (const inputs of [files, [merged]]) {
    const { lines, functions } = await report(inputs)
    const [first] = lines
    assert.deepEqual([first.name, first.line], ['load', 8], JSON.stringify(lines.slice(0, 3)))
    assert.ok(first.file.endsWith('load.ts') && first.selfMs > 80, JSON.stringify(first))
    const load = functions.find(({ name }) => name === 'load')
    assert.ok(Number(load?.totalMs) > Number(load?.selfMs) + 80, JSON.stringify(load))
  }
  const { stdout } = await cli(['report', merged], { cwd })
  // On a busy machine another sentence comes first.
  const text = stdout.replace(/\s+/g, ' ')
  assert.match(text, pattern`\d % ${messages.ofWork} JSON\.parse, called by load \(load\.ts:5\)\.`)
})

test('without the category there are none', { skip: SKIP }, async () => {
  const { traces } = await run(['-e', WORK])
  const { native } = nativeStacks(traces[0], 'parse')
  assert.equal(native, 0)
})

test('where stacks cannot be read, one line says so and the recording goes on', {
  skip: process.platform === 'linux' && SOURCE !== 'v8' && 'another source says so itself',
}, async () => {
  const { stderr, traces, code } = await run(['-e', WORK], {
    env: { ...ENV, CPU_PROF_SOURCE: 'inspector' },
  })
  assert.equal(code, 0)
  assert.match(stderr, /^cpu-prof: native frames are not recorded: .*\n$/)
  assert.ok(traces[0].totalMs((frame) => frame.functionName === 'parse') > 200)
})
