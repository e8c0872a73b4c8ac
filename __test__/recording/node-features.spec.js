'use strict'

// Parts of Node that start threads, end them or run code in their own way: limits of workers, snapshots, hooks of
// modules.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  cleanEnv,
  run,
  temporaryDirectory,
  tracesIn,
  FIXTURES,
  PACKAGE,
} = require('../helpers/run.js')
const { NEEDS_INTERRUPT } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

const nodeModule = /** @type {any} */ (require('node:module'))
const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** Writes files, and returns the path of the first. @param {Record<string, string>} files */
function written(files) {
  const dir = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text)
  return path.join(dir, Object.keys(files)[0])
}

/** Returns thread ids, and whether their recordings have ended. @param {any[]} traces */
const threadsOf = (traces) => traces.map(({ tid, ended }) => [tid, ended])

/** Workers that reach a limit: their limits, what they do, and how they end. */
const LIMITS = [
  {
    limits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    code: 'const kept = []; for (;;) kept.push(new Array(1000).fill(0).map((_, i) => ({ i })))',
    error: 'ERR_WORKER_OUT_OF_MEMORY',
  },
  {
    limits: { stackSizeMb: 1 },
    code: 'const deeper = (n) => 1 + deeper(n + 1); deeper(0)',
    error: 'RangeError',
  },
]

for (const { limits, code, error } of LIMITS) {
  test(`a worker that reaches its ${Object.keys(limits)[0]} ends as without the profiler`, {
    skip: NEEDS_INTERRUPT,
  }, async () => {
    const file = written({
      'main.js': `
        const { Worker, isMainThread } = require('node:worker_threads')
        function fill() { ${code} }
        if (isMainThread) {
          let left = 3
          const next = () => {
            const worker = new Worker(__filename, { resourceLimits: ${JSON.stringify(limits)} })
            worker.on('error', ({ code, name }) => console.log(code ?? name))
            worker.on('exit', (code) => {
              console.log(code)
              if (--left > 0) next()
            })
          }
          next()
        } else {
          require(${SPIN}).spin(200)
          fill()
        }`,
    })
    const { traces, stdout, complaint } = await runUnharmed([file])
    assert.equal(stdout, `${error}\n1\n`.repeat(3))
    assert.equal(complaint, '')
    assert.deepEqual(
      traces.map(({ tid }) => tid),
      [0, 1, 2, 3],
    )
    for (const trace of traces.slice(1)) assertSeen(trace, 'spin')
  })
}

/**
 * Builds a snapshot. Node aborts in a process that has a channel to its parent.
 * @param {string} entry @param {Record<string, string>} [env] @param {string[]} [preload]
 */
function buildSnapshot(entry, env = {}, preload = []) {
  const args = [...preload, '--snapshot-blob', 'app.blob', '--build-snapshot', entry]
  const cwd = path.dirname(entry)
  return spawnSync(process.execPath, args, {
    cwd,
    env: { ...cleanEnv(), ...env },
    encoding: 'utf8',
  })
}

test('a snapshot is built without a recording, and what runs from it is recorded', async () => {
  const file = written({
    'main.js': `
      const { startupSnapshot } = require('node:v8')
      function prepare() { return 'prepared' }
      const text = prepare()
      function spin() {
        const enough = process.cpuUsage().user + 400_000
        let sum = 0
        while (process.cpuUsage().user < enough) for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i)
        return sum
      }
      startupSnapshot.setDeserializeMainFunction(() => {
        spin()
        console.log(text, process.argv.slice(2).join())
      })`,
  })
  const cwd = path.dirname(file)
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}` }
  const comparable = (/** @type {string} */ stderr) => stderr.replace(/\d+/g, '#')
  const plainly = buildSnapshot(file)
  for (const built of [buildSnapshot(file, env), buildSnapshot(file, {}, ['--require', PACKAGE])]) {
    assert.equal(built.status, 0, built.stderr)
    assert.equal(comparable(built.stderr), comparable(plainly.stderr))
    assert.deepEqual(tracesIn(cwd), [])
  }
  const args = ['--snapshot-blob', 'app.blob', 'first', 'second']
  const plain = await run(args, { preload: null, cwd })
  const { traces, stdout, stderr } = await run(args, { env, preload: null, cwd })
  assert.match(stdout, /^prepared /)
  assert.equal(stdout, plain.stdout)
  assert.equal(stderr, plain.stderr)
  assert.deepEqual(threadsOf(traces), [[0, true]])
  assertSeen(traces[0], 'spin')
})

/** Hooks that pass all on, and the module that they load. */
const FILES = {
  'hooks.mjs': `
    export const resolve = (specifier, context, next) => next(specifier, context)
    export async function load(url, context, next) {
      if (url.endsWith('/late.mjs')) hookWork()
      return next(url, context)
    }
    function hookWork() {
      const end = process.cpuUsage().user + 400_000
      let sum = 0
      while (process.cpuUsage().user < end) for (let i = 0; i < 1e5; i++) sum += Math.sqrt(i)
      return sum
    }`,
  'late.mjs': `export default 7`,
}
const LATE = `import('./late.mjs').then(({ default: value }) => { require(${SPIN}).spin(); console.log(value) })`

test('module.register() under --throw-deprecation: the thread of the hooks is the only worker', {
  skip: typeof nodeModule.register !== 'function' && 'this Node has no module.register()',
}, async () => {
  const file = written({
    'main.js': `
      require('node:module').register('./hooks.mjs', require('node:url').pathToFileURL(__filename))
      ${LATE}`,
    ...FILES,
  })
  const before = ['--throw-deprecation']
  const { traces, stdout, code, complaint } = await runUnharmed([file], { before })
  assert.equal(complaint, '')
  // Node 26 deprecates the call itself.
  if (code !== 0) {
    assert.equal(stdout, '')
    return
  }
  assert.equal(stdout, '7\n')
  assert.deepEqual(
    traces.map(({ tid }) => tid),
    [0, 1],
  )
  const [main, hooks] = traces
  assertSeen(main, 'spin')
  // Node terminates the thread.
  if (NEEDS_INTERRUPT === false) assertSeen(hooks, 'hookWork')
})

test('registerHooks() under --throw-deprecation: there is no other thread', {
  skip: typeof nodeModule.registerHooks !== 'function' && 'this Node has no registerHooks()',
}, async () => {
  const file = written({
    'main.js': `
      require('node:module').registerHooks({
        resolve: (specifier, context, next) => next(specifier, context),
        load: (url, context, next) => next(url, context),
      })
      ${LATE}`,
    ...FILES,
  })
  const before = ['--throw-deprecation']
  const { traces, stdout, complaint } = await runUnharmed([file], { before })
  assert.equal(stdout, '7\n')
  assert.equal(complaint, '')
  assert.deepEqual(threadsOf(traces), [[0, true]])
  assertSeen(traces[0], 'spin')
})
