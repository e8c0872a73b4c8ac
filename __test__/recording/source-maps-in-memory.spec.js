'use strict'

// Functions and lines of the sources of code that a transpiler made in memory.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')
const { NEEDS_SCRIPT_MAPS } = require('../helpers/source.js')

const skip = NEEDS_SCRIPT_MAPS

const SOURCE = `
interface Options {
  /** CPU time */
  ms: number
}

const usedMs = (): number => process.cpuUsage().user / 1000

type Count = number

export function grindAll({ ms }: Options): number {
  let sum = 0
  for (const end = usedMs() + ms; usedMs() < end; ) sum += crunch(99)
  return sum
}

const crunch = (count: Count): number => {
  let sum = 0
  for (let i = 0; i < count * 1000; i++) {
    sum += Math.sqrt(i) % 7
  }
  return sum
}
`
/** Lines of the functions in {@link SOURCE}. @type {Record<string, number>} */
const LINES = { grindAll: 11, crunch: 17 }
/** First and last lines of the loop in {@link SOURCE}. */
const LOOP = [19, 20]

/** Loads TypeScript as tsx and ts-node do. */
const HOOK = `
  const ts = require(${JSON.stringify(require.resolve('typescript'))})
  exports.transpile = (file) => {
    const source = require('node:fs').readFileSync(file, 'utf8')
    const compilerOptions = { module: 'commonjs', target: 'es2020', inlineSourceMap: true }
    return ts.transpileModule(source, { fileName: file, compilerOptions }).outputText
  }
  require.extensions['.ts'] = (module, file) => module._compile(exports.transpile(file), file)`

/** Creates a project of {@link SOURCE}. @param {Record<string, string>} files */
function project(files) {
  const cwd = temporaryDirectory()
  const all = { 'mill.ts': SOURCE, 'hook.js': HOOK, ...files }
  for (const [name, text] of Object.entries(all)) fs.writeFileSync(path.join(cwd, name), text)
  return cwd
}

/** Returns whether a function is one of {@link LINES}. @param {string} cwd */
const isOfSource = (cwd) => (/** @type {{ name: string, file: string }} */ each) =>
  each.file === path.join(cwd, 'mill.ts') && Object.hasOwn(LINES, each.name)

/** Asserts that a report has the places of the source. @param {import('../../index.js').Report} result @param {string} cwd */
function assertPlaces(result, cwd) {
  const file = path.join(cwd, 'mill.ts')
  const found = result.functions.filter(isOfSource(cwd))
  assert.deepEqual(Object.fromEntries(found.map((each) => [each.name, each.line])), LINES)
  const hottest = result.lines.find((each) => each.file === file && each.line > 0)
  const [first, last] = LOOP
  assert.ok(hottest && hottest.line >= first && hottest.line <= last, JSON.stringify(hottest))
  assert.deepEqual(result.notes, [])
}

/** Returns the report of files with all functions: a caller of the work has little time of its own. @param {string} input */
const reportAll = (input) => report(input, { top: Number.POSITIVE_INFINITY })

/** Returns the events with maps. @param {string} file */
function maps(file) {
  const { traceEvents } = JSON.parse(fs.readFileSync(file, 'utf8'))
  return traceEvents.filter((/** @type {any} */ { name }) => name === 'ScriptSourceMap')
}

test('code that is transpiled in memory has the places of its source, in both threads', {
  skip,
}, async () => {
  const cwd = project({
    'main.js': `
      require('./hook.js')
      require('./mill.ts').grindAll({ ms: 300 })
      const { Worker, isMainThread } = require('node:worker_threads')
      if (isMainThread) new Worker(__filename)`,
  })
  const { code, stderr, files } = await run(['./main.js'], { cwd })
  assert.equal(code, 0, stderr)
  assert.equal(files.length, 2)
  for (const file of files) assertPlaces(await reportAll(file), cwd)

  const at = (/** @type {string} */ name) => path.join(cwd, name)
  await merge(files, at('merged.json'))
  assertPlaces(await reportAll(at('merged.json')), cwd)
  assert.deepEqual(maps(at('merged.json')), [])
  await merge(files, at('plain.json'), { sourceMaps: false })
  assert.equal(maps(at('plain.json')).length, 2)
  assertPlaces(await reportAll(at('plain.json')), cwd)
})

test('a killed process keeps its maps, and a script without samples has none', {
  skip,
}, async () => {
  const cwd = project({
    'unused.ts': 'export const unused = (): number => 1',
    'main.js': `
      const filename = require.resolve('./unused.ts')
      const { transpile } = require('./hook.js')
      // What never runs has no samples.
      new (require('node:vm').Script)(transpile(filename), { filename })
      require('./mill.ts').grindAll({ ms: 400 })
      process.kill(process.pid, 'SIGKILL')`,
  })
  const { signal, files } = await run(['./main.js'], {
    cwd,
    env: { CPU_PROF_FLUSH_INTERVAL: '50' },
  })
  assert.equal(signal, 'SIGKILL')
  const [event, ...more] = maps(files[0])
  assert.deepEqual(more, [])
  assert.equal(event.args.data.url, `file://${path.join(cwd, 'mill.ts')}`)
  assert.equal(event.args.data.sourceMap.sourcesContent, undefined)
  assertPlaces(await reportAll(files[0]), cwd)
})

test('start() finds the maps of code that was loaded before', { skip }, async () => {
  const cwd = project({
    'main.js': `
      require('./hook.js')
      const { grindAll } = require('./mill.ts')
      grindAll({ ms: 20 })
      const prof = require(${JSON.stringify(PACKAGE)})
      for (let i = 0; i < 2; i++) {
        prof.start()
        grindAll({ ms: 300 })
        prof.stop()
      }`,
  })
  const { code, stderr, files } = await run(['./main.js'], { cwd, preload: null })
  assert.equal(code, 0, stderr)
  assert.equal(files.length, 2)
  for (const file of files) {
    // V8 does not tell functions apart that were optimized into one before the start.
    const { functions } = await reportAll(file)
    const grindAll = functions.find(({ name }) => name === 'grindAll')
    assert.equal(grindAll?.line, LINES.grindAll, file)
  }
})

test('each segment of a recording has the maps that it needs', { skip }, async () => {
  // Works until there are four more segments than after the transpiler.
  const cwd = project({
    'main.js': `
      require('./hook.js')
      const { grindAll } = require('./mill.ts')
      const names = () => require('node:fs').readdirSync('.').filter((name) => name.endsWith('.trace.json'))
      const segment = () => Math.max(...names().map((name) => Number(/(\\d+)\\.trace/.exec(name)[1])))
      const before = segment()
      for (let turn = 0; turn < 100 && segment() < before + 4; turn++) grindAll({ ms: 100 })
      console.log(before)`,
  })
  const { stdout, files } = await run(['./main.js'], {
    cwd,
    env: { CPU_PROF_MAX_SIZE: '128K', CPU_PROF_FLUSH_INTERVAL: '10', CPU_PROF_INTERVAL: '100' },
  })
  const before = Number(stdout)
  // The last segment may have begun just before the end.
  let whole = 0
  for (const file of files) {
    const segment = Number(/(\d+)\.trace\.json$/.exec(file)?.[1])
    const { functions } = await reportAll(file)
    // V8 can count the time of `crunch` for its caller once both are optimized into one.
    const found = functions.filter(isOfSource(cwd))
    for (const { name, line } of found) assert.equal(line, LINES[name], file)
    if (segment < before + 2 || file === files.at(-1)) continue
    assert.ok(found.length > 0, file)
    whole++
  }
  assert.ok(whole > 0, `${files}, after segment ${before}`)
})

test('vitest: a test and what it calls have the places of their sources', { skip }, async () => {
  const cwd = project({
    'mill.test.ts': `
      import { expect, test } from 'vitest'
      import { grindAll } from './mill'
      test('grinds', () => {
        expect(grindAll({ ms: 300 })).toBeGreaterThan(0)
      })`,
  })
  fs.symlinkSync(path.join(PACKAGE, 'node_modules'), path.join(cwd, 'node_modules'))
  const vitest = path.join(PACKAGE, 'node_modules', 'vitest', 'vitest.mjs')
  const { code, stderr } = await run([vitest, 'run'], {
    cwd,
    env: { NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}` },
    preload: null,
  })
  assert.equal(code, 0, stderr)
  const result = await reportAll(cwd)
  assertPlaces(result, cwd)
  const [own] = result.functions.filter(({ file }) => file.endsWith('mill.test.ts'))
  assert.ok(own.line > 0 && own.line <= 7, JSON.stringify(own))
})
