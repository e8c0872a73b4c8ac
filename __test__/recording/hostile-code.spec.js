'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { run, FIXTURES } = require('../helpers/run.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FAST = { CPU_PROF_FLUSH_INTERVAL: '50' }

/** A name that is an absolute path of Windows, and its URL as a script's. */
const [WINDOWS, WINDOWS_URL] = ['C:\\u0041\\', 'file:///C:/u0041/']
const NAMES = [
  `"'\\\``,
  'a\r\nb\u2028c\t\u0001',
  WINDOWS,
  '🔥é日本',
  '</script><!--',
  'enhancedTraceVersion',
]

/** @type {ReturnType<typeof runUnharmed> | undefined} */
let namedOddly

/**
 * Runs functions with special names, and a function of scripts with special names. They take short
 * turns for a second, so that each is sampled whenever the thread is.
 */
function runOddNames() {
  const source = `
    const vm = require('node:vm')
    const { spin } = require(${SPIN})
    const functions = ${JSON.stringify([...NAMES, 'lone\ud83dsurrogate', 'cut\0off'])}.map((name) =>
      new Function('spin', 'return {' + JSON.stringify(name) + '() { spin(5) } }')(spin)[name])
    for (const filename of ${JSON.stringify(NAMES)}) {
      const odd = vm.runInThisContext('(function odd(spin) { spin(5) })', { filename })
      functions.push(() => odd(spin))
    }
    for (let turn = 0; turn < 15; turn++) for (const each of functions) each()
  `
  namedOddly ??= runUnharmed(['-e', source], { env: FAST })
  return namedOddly
}

test('function names with special characters are in the trace', async () => {
  const { traces, stderr } = await runOddNames()
  assert.equal(stderr, '')
  const seen = [...traces[0].nodes.values()].map((node) => node.callFrame.functionName)
  for (const name of NAMES) assert.ok(seen.includes(name), JSON.stringify(name))
  assert.ok(seen.some((name) => /^lone\ufffd+surrogate$/.test(name)))
  assert.ok(seen.some((name) => /^cut/.test(name)))
})

test('script names with special characters are in the trace', async () => {
  const { traces, stderr } = await runOddNames()
  assert.equal(stderr, '')
  const odd = [...traces[0].nodes.values()].filter((node) => node.callFrame.functionName === 'odd')
  const urls = NAMES.map((name) => (name === WINDOWS ? WINDOWS_URL : name))
  assert.deepEqual(new Set(odd.map((node) => node.callFrame.url)), new Set(urls))
})

test('a deep recursion keeps its innermost 255 frames', async () => {
  const source = `
    const { spin } = require(${SPIN})
    function down(depth) { return depth === 0 ? bottom() : 1 + down(depth - 1) }
    function bottom() { spin(); return 0 }
    console.log(down(7000))
  `
  const { traces, stdout } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, '7000\n')
  assertSeen(traces[0], 'bottom')
  const { nodes } = traces[0]
  /** Returns the names of a node and its callers, below the root. @param {any} node @returns {string[]} */
  const stackOf = (node) =>
    node.parent === undefined
      ? []
      : [node.callFrame.functionName, ...stackOf(nodes.get(node.parent))]
  const deep = [...nodes.values()].map(stackOf).filter((names) => names.includes('bottom'))
  const depths = deep.map((names) => names.length)
  assert.ok(Math.max(...depths) >= 254 && Math.max(...depths) <= 260, depths.join())
})

test('a program can still catch a stack overflow', async () => {
  const source = `
    let caught = 0
    const down = () => 1 + down()
    const before = process.cpuUsage()
    do {
      try { down() } catch (error) { if (error instanceof RangeError) caught++ }
    } while (process.cpuUsage(before).user < 300_000)
    console.log(caught > 0)
    down()
  `
  const { code, stdout, traces } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, 'true\n')
  assert.equal(code, 1)
  assert.ok(traces[0].ended)
})

test('100,000 generated functions are recorded without a complaint', async () => {
  const source = `
    let sum = 0
    for (let batch = 0; batch < 100; batch++) {
      const lines = Array.from({ length: 1000 }, (_, i) =>
        'function made' + i + '() { let sum = 0; for (let i = 0; i < 100; i++) sum += i; return sum }')
      const calls = lines.map((_, i) => 'made' + i + '()').join('+')
      sum += new Function(lines.join(';') + ';return ' + calls.replace(/([^+]+\\+){100}/g, '$&\\n'))()
    }
    console.log(sum)
  `
  const { traces, stdout, complaint } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, '495000000\n')
  assert.equal(complaint, '')
  assert.ok(traces[0].ended)
})

test('code in other contexts is in the trace, and vm timeouts still stop it', async () => {
  const source = `
    const vm = require('node:vm')
    const { spin } = require(${SPIN})
    vm.runInNewContext('function inContext() { spin() } inContext()', { spin })
    const endless = new vm.Script('function inTime() { for (;;); } inTime()')
    const codes = new Set()
    // A timeout is no CPU time: a thread that stands still can have none before it.
    const before = process.cpuUsage()
    do {
      for (const options of [{ timeout: 150 }, { timeout: 150, breakOnSigint: true }]) {
        try { endless.runInNewContext({}, options) }
        catch (error) { codes.add(error.code) }
      }
    } while (process.cpuUsage(before).user < 600_000)
    console.log([...codes].join())
    process.exitCode = 3
  `
  const { code, stdout, traces } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(code, 3)
  assert.equal(stdout, 'ERR_SCRIPT_EXECUTION_TIMEOUT\n')
  for (const name of ['inContext', 'inTime']) assertSeen(traces[0], name)
})

test('SIGINT still stops code in a vm context with breakOnSigint', async () => {
  const source = `
    const vm = require('node:vm')
    const code = 'send(); function inContext() { for (;;); } inContext()'
    const send = () => process.send(0)
    try { vm.runInNewContext(code, { send }, { breakOnSigint: true }) }
    catch (error) { console.log(error.code) }
    process.exitCode = 3
    process.disconnect()
  `
  const { code, signal, stdout } = await runUnharmed(['-e', source], {
    env: FAST,
    during: (child) => child.once('message', () => child.kill('SIGINT')),
  })
  assert.equal(signal, null)
  assert.equal(stdout, 'ERR_SCRIPT_EXECUTION_INTERRUPTED\n')
  assert.equal(code, 3)
})

test('WebAssembly functions are in the trace', async () => {
  // (func $rounds (param i32) (loop  local.get 0  i32.const 1  i32.sub  local.tee 0  br_if 0))
  const bytes = [
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    [0x01, 0x05, 0x01, 0x60, 0x01, 0x7f, 0x00],
    [0x03, 0x02, 0x01, 0x00],
    [0x07, 0x0a, 0x01, 0x06, ...Buffer.from('rounds'), 0x00, 0x00],
    [0x0a, 0x10, 0x01, 0x0e, 0x00, 0x03, 0x40],
    [0x20, 0x00, 0x41, 0x01, 0x6b, 0x22, 0x00, 0x0d, 0x00, 0x0b, 0x0b],
  ].flat()
  const source = `
    const module = new WebAssembly.Module(new Uint8Array(${JSON.stringify(bytes)}))
    const { rounds } = new WebAssembly.Instance(module).exports
    const before = process.cpuUsage()
    do rounds(1e7)
    while (process.cpuUsage(before).user < 500_000)
  `
  const { traces, stderr } = await run(['-e', source], { env: FAST })
  assert.equal(stderr, '')
  assert.ok(traces[0].totalShare((frame) => frame.url.startsWith('wasm://')) > 0)
})

test('a heap out of memory ends the program as without the profiler', async () => {
  const source = 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))'
  const { signal, code, stderr, traces } = await run(['--max-old-space-size=40', '-e', source], {
    env: FAST,
  })
  assert.deepEqual([code, signal], [null, 'SIGABRT'])
  assert.match(stderr, /JavaScript heap out of memory/)
  assert.doesNotMatch(stderr, /cpu-prof: /)
  assert.equal(traces.length, 1)
})
