'use strict'

// The walk as the source: what it finds, and what happens where it is not possible.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, filesIn, PACKAGE } = require('../helpers/run.js')

const isGlibc = /** @type {any} */ (process.report.getReport()).header.glibcVersionRuntime
const skip =
  (process.platform !== 'linux' || process.arch !== 'x64' || isGlibc === undefined) &&
  'the walk needs Linux on x64 with glibc'
const env = { CPU_PROF_SOURCE: 'walk', CPU_PROF_INTERVAL: '200' }

/** Returns the paths of the stacks of a trace, the outermost function first. @param {any} trace @returns {string[]} */
function stacksOf(trace) {
  const path = (/** @type {any} */ node) => {
    const names = []
    for (let at = node; at !== undefined; at = trace.nodes.get(at.parent)) {
      names.unshift(at.callFrame.functionName)
    }
    return names.join(' ')
  }
  return [...new Set(trace.samples.map((/** @type {any} */ { node }) => path(node)))]
}

/** Returns the lines of the samples of a function. @param {any} trace @param {string} name @returns {number[]} */
function linesOf({ events, nodes }, name) {
  const chunks = events.filter((/** @type {any} */ event) => event.name === 'ProfileChunk')
  return chunks.flatMap((/** @type {any} */ { args: { data } }) =>
    (data.cpuProfile?.samples ?? []).flatMap((/** @type {number} */ id, /** @type {number} */ i) =>
      nodes.get(id).callFrame.functionName === name ? [data.lines?.[i] ?? 0] : [],
    ),
  )
}

/** Returns the last count of compared stacks. @param {any} trace */
function comparedIn({ events }) {
  const flushes = events.filter((/** @type {any} */ { name }) => name === 'thread.flush')
  const compared = flushes.map((/** @type {any} */ { args }) => args.data.comparedStacks)
  return compared.filter(Boolean).at(-1)
}

test('all kinds of code are on the stacks of both threads, as V8 sees them', { skip }, async () => {
  const { code, stderr, traces } = await run(['walked.js', '400'], { env })
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(traces.length, 2)
  for (const trace of traces) {
    const stacks = stacksOf(trace)
    for (const stack of [
      / inlined middle small$/,
      / parsed parse$/,
      / visited forEach visit small$/,
      / sorted sort order small$/,
      / webAssembly (js-to-wasm\S* )?wasm-function\[0\]$/,
      / evaluated small$/,
      /descend descend descend/,
    ]) {
      assert.ok(
        stacks.some((each) => stack.test(each)),
        `${stack} in ${stacks.join('\n')}`,
      )
    }
    const { same, leftOut, different } = comparedIn(trace)
    assert.ok(same > 50, `${same} are the same`)
    assert.ok(different <= 0.01 * same + 1, `${different} of ${same + leftOut} differ`)
  }
})

test('samples have their lines in each tier', { skip }, async () => {
  const file = path.join(temporaryDirectory(), 'lines.js')
  const lines = [
    'function busy() {',
    '  let sum = 0',
    '  for (let i = 0; i < 1e5; i++) {',
    '    sum = (sum + i * 7) & 1023',
    '  }',
    '  return sum',
    '}',
    'for (const end = performance.now() + 500; performance.now() < end; ) busy()',
  ]
  fs.writeFileSync(file, lines.join('\n'))
  for (const flags of [['--no-sparkplug', '--no-opt'], ['--always-sparkplug', '--no-opt'], []]) {
    const { code, stderr, traces } = await run([...flags, file], { env })
    assert.deepEqual([code, stderr], [0, ''])
    const busy = linesOf(traces[0], 'busy')
    assert.ok(busy.length > 100, `${busy.length} samples, ${flags}`)
    const inLoop = busy.filter((line) => line === 3 || line === 4)
    assert.ok(inLoop.length > 0.9 * busy.length, `${inLoop.length} of ${busy.length}, ${flags}`)
  }
})

test('start() walks, too', { skip }, async () => {
  const source = `
    const prof = require(${JSON.stringify(PACKAGE)})
    prof.start({ source: 'walk', interval: 200 })
    function busy() { for (let i = 0; i < 1e5; i++); }
    for (const end = performance.now() + 300; performance.now() < end; ) busy()
    console.log(prof.stop().source)`
  const { stdout, stderr, traces } = await run(['-e', source], { preload: null })
  assert.deepEqual([stdout, stderr], ['walk\n', ''])
  assert.ok(traces[0].totalMs((/** @type {any} */ frame) => frame.functionName === 'busy') > 0)
})

test('beside a profiler that was there before, V8 takes the samples', { skip }, async () => {
  const { code, stderr, cwd, traces } = await run(['--cpu-prof', 'walked.js', '50'], { env })
  assert.equal(code, 0)
  assert.match(
    stderr,
    /^cpu-prof: CPU_PROF_SOURCE=walk is not possible here: [^;]+; V8's profiler records instead\n$/,
  )
  assert.equal(traces.length, 2)
  assert.equal(filesIn(cwd, '.cpuprofile').length, 2)
})
