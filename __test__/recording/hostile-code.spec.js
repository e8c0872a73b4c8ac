'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { run, FIXTURES } = require('../helpers/run.js')
const { runUnharmed } = require('../helpers/unharmed.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))
const FAST = { CPU_PROF_FLUSH_INTERVAL: '50' }

const NAMES = [
  `"'\\\``,
  'a\r\nb\u2028c\t\u0001',
  'C:\\u0041\\',
  '🔥é日本',
  '</script><!--',
  'enhancedTraceVersion',
]

test('function names with special characters are in the trace', async () => {
  const source = `
    const { spin } = require(${SPIN})
    for (const name of ${JSON.stringify([...NAMES, 'lone\ud83dsurrogate', 'cut\0off'])}) {
      new Function('spin', 'return {' + JSON.stringify(name) + '() { spin(60) } }')(spin)[name]()
    }
  `
  const { traces, stderr } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stderr, '')
  const seen = [...traces[0].nodes.values()].map((node) => node.callFrame.functionName)
  for (const name of NAMES) assert.ok(seen.includes(name), JSON.stringify(name))
  assert.ok(seen.some((name) => /^lone\ufffd+surrogate$/.test(name)))
  assert.ok(seen.some((name) => /^cut/.test(name)))
})

test('script names with special characters are in the trace', async () => {
  const source = `
    const vm = require('node:vm')
    const { spin } = require(${SPIN})
    const code = '(function odd(spin) { spin(60) })'
    for (const filename of ${JSON.stringify(NAMES)}) vm.runInThisContext(code, { filename })(spin)
  `
  const { traces, stderr } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stderr, '')
  const odd = [...traces[0].nodes.values()].filter((node) => node.callFrame.functionName === 'odd')
  assert.deepEqual(
    odd.map((node) => node.callFrame.url),
    NAMES,
  )
})

test('a deep recursion keeps its innermost 255 frames', async () => {
  const source = `
    function down(depth) { return depth === 0 ? bottom() : 1 + down(depth - 1) }
    function bottom() { for (const end = Date.now() + 300; Date.now() < end; ); return 0 }
    console.log(down(7000))
  `
  const { traces, stdout } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(stdout, '7000\n')
  const [trace] = traces
  assert.ok(trace.totalMs((frame) => frame.functionName === 'bottom') > 100)
  const { nodes } = trace
  const depths = [...nodes.values()]
    .filter((node) => node.callFrame.functionName === 'bottom')
    .map((node) => {
      let depth = 0
      for (let at = nodes.get(node.parent); at !== undefined; at = nodes.get(at.parent)) depth++
      return depth
    })
  assert.ok(Math.max(...depths) >= 254 && Math.max(...depths) <= 260, depths.join())
})

test('a program can still catch a stack overflow', async () => {
  const source = `
    let caught = 0
    const down = () => 1 + down()
    for (const end = Date.now() + 300; Date.now() < end; ) {
      try { down() } catch (error) { if (error instanceof RangeError) caught++ }
    }
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
    const loop = (name, ms) =>
      'function ' + name + '() { for (const end = Date.now() + ' + ms + '; Date.now() < end; ); } ' + name + '()'
    vm.runInNewContext(loop('inContext', 200))
    for (const options of [{ timeout: 150 }, { timeout: 150, breakOnSigint: true }]) {
      try { new vm.Script(loop('inTime', 60_000)).runInNewContext({}, options) }
      catch (error) { console.log(error.code) }
    }
    process.exitCode = 3
  `
  const { code, stdout, traces } = await runUnharmed(['-e', source], { env: FAST })
  assert.equal(code, 3)
  assert.equal(stdout, 'ERR_SCRIPT_EXECUTION_TIMEOUT\n'.repeat(2))
  for (const name of ['inContext', 'inTime']) {
    assert.ok(traces[0].totalShare((frame) => frame.functionName === name) > 0.05, name)
  }
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
    for (const end = Date.now() + 300; Date.now() < end; ) rounds(1e7)
  `
  const { traces, stderr } = await run(['-e', source], { env: FAST })
  assert.equal(stderr, '')
  assert.ok(traces[0].totalMs((frame) => frame.url.startsWith('wasm://')) > 100)
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
