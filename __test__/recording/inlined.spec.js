'use strict'

// Functions that V8 inlined into their callers. Before Node 26, V8 charges the caller, as
// `node --cpu-prof` shows: here `total` with most of the time.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { convert, merge, report } = require('../../index.js')
const { run, filesIn, temporaryDirectory } = require('../helpers/run.js')

/**
 * The calls are sampled before V8 inlines them, also where V8's sampling thread stands still for a while.
 * The interface makes the lines of the compiled code others.
 */
const SOURCE = `
import { setFlagsFromString } from 'node:v8'

interface Row {
  text: string
}

function hash(text: string, seed: number): number {
  let sum = seed
  for (let i = 0; i < text.length; i++) {
    sum = (sum * 31 + text.charCodeAt(i)) | 0
  }
  return sum
}

function mix(text: string, seed: number): number {
  return hash(text, seed) + 1
}

function total(rows: Row[]): number {
  let sum = 0
  for (const { text } of rows) sum = (sum + mix(text, sum)) | 0
  return sum
}

const rows: Row[] = Array.from({ length: 100 }, (_, i) => ({ text: 'abcdef'.repeat(2000 + i) }))
function work(ms: number): void {
  const enough = process.cpuUsage().user + ms * 1000
  while (process.cpuUsage().user < enough) total(rows)
}
setFlagsFromString('--no-opt')
work(600)
setFlagsFromString('--opt')
work(2000)
`
/** V8's middle compiler inlines too, and Node 18 does not have it. */
const FLAGS = process.version.startsWith('v18.') ? [] : ['--no-maglev']
const ENV = { CPU_PROF_FORMAT: 'trace,cpuprofile', CPU_PROF_FLUSH_INTERVAL: '200' }
const ALL = { top: Number.POSITIVE_INFINITY }

/** Writes the compiled program with its map, and returns its folder. */
function writeProgram() {
  const cwd = temporaryDirectory()
  const { outputText, sourceMapText } = ts.transpileModule(SOURCE, {
    fileName: 'sums.ts',
    compilerOptions: {
      sourceMap: true,
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2020,
    },
  })
  fs.writeFileSync(path.join(cwd, 'sums.ts'), SOURCE)
  fs.writeFileSync(path.join(cwd, 'sums.js'), outputText)
  fs.writeFileSync(path.join(cwd, 'sums.js.map'), String(sourceMapText))
  return cwd
}

/**
 * Checks that the inlined function has most of the time below its caller: without a correction a quarter
 * at most, from before V8 inlines.
 * @param {number | undefined} share @param {string} name
 */
const assertInlined = (share, name) => assert.ok((share ?? 0) > 0.6, `${name}: ${share}`)

/** Returns the share of `hash` in the time below `total`. @param {import('../../index.js').Report} report */
function shareOfHash({ functions }) {
  const of = (/** @type {string} */ name) => functions.find((each) => each.name === name)
  return (of('hash')?.selfMs ?? 0) / (of('total')?.totalMs ?? 0)
}

test('an inlined function has its time in the recording and in what is made of the recording', async () => {
  const cwd = writeProgram()
  const { files, traces } = await run([...FLAGS, './sums.js'], { cwd, env: ENV })
  const [trace] = files
  const [profile] = filesIn(cwd, '.cpuprofile')
  // As DevTools reads the file.
  const isTotal = (/** @type {any} */ { functionName }) => functionName === 'total'
  assertInlined(traces[0].selfShare('hash') / traces[0].totalShare(isTotal), trace)

  const out = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(out, name)
  await merge(trace, at('merged.json'))
  await merge(trace, at('plain.json'), { sourceMaps: false })
  await convert(trace, at('converted.cpuprofile'))
  const recorded = await report(trace, ALL)
  for (const file of [profile, at('merged.json'), at('plain.json'), at('converted.cpuprofile')]) {
    assertInlined(shareOfHash(await report(file, ALL)), file)
  }
  // The merged file alone tells the places of the source, and the same as the recording.
  fs.rmSync(path.join(cwd, 'sums.js.map'))
  const merged = await report(at('merged.json'), ALL)
  assert.deepEqual(merged.functions, recorded.functions)
  assert.deepEqual(merged.lines, recorded.lines)
  assert.equal(merged.functions.find(({ name }) => name === 'hash')?.line, 8)
})
