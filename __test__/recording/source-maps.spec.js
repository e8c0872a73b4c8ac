'use strict'

// Functions and lines of the sources that code was made from. V8's positions lead there, so the code
// is recorded: all of it in one process, in turns.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const esbuild = require('esbuild')
const ts = require('typescript')
const { convert, merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory } = require('../helpers/run.js')

/** Sources by their names. @type {Record<string, string>} */
const SOURCES = {
  'src/main.ts': `import { crunchNumbers } from './numbers'
import { packaged } from 'crunch'

interface Options {
  times: number
}

export class Mill {
  constructor(private readonly options: Options) {}

  grindAll(): number {
    let sum = 0
    for (let i = 0; i < this.options.times; i++) {
      sum += crunchNumbers(9) + packaged(9)
    }
    return sum
  }
}

export const mill = new Mill({ times: 10 })
`,
  'src/numbers.ts': `
type Count = number

export const crunchNumbers = (count: Count): number => {
  let sum = 0
  for (let i = 0; i < count * 1000; i++) {
    sum += Math.sqrt(i) % 7
  }
  return sum
}
`,
  'node_modules/crunch/index.js': `
exports.packaged = function packaged(count) {
  let sum = 0
  for (let i = 0; i < count * 1000; i++) sum += Math.cbrt(i) % 7
  return sum
}
`,
}

/** Names and places of the functions in {@link SOURCES}. */
const PLACES = {
  crunchNumbers: 'src/numbers.ts:4',
  grindAll: 'src/main.ts:11',
  packaged: 'node_modules/crunch/index.js:2',
}
const ALL = { top: Number.POSITIVE_INFINITY }
/**
 * CPU time of all code together. Each function has 100 ms or more, spread over all of it: where V8's
 * sampling thread stands still for 400 ms, the function loses a part only.
 */
const WORK_MS = 2000

/** @param {string} cwd @param {string} name @param {string} text */
function write(cwd, name, text) {
  fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true })
  fs.writeFileSync(path.join(cwd, name), text)
}

/**
 * Bundles a project into dist/bundle.js, and returns its name.
 * @param {string} cwd @param {import('esbuild').BuildOptions} options
 */
function bundle(cwd, options) {
  const entryPoints = [path.join(cwd, 'src/main.ts')]
  const outfile = path.join(cwd, 'dist/bundle.js')
  esbuild.buildSync({ entryPoints, outfile, bundle: true, platform: 'node', ...options })
  return 'dist/bundle.js'
}

/** Compiles the sources of a project into `out`, and returns the main file's name. @param {string} cwd */
function compile(cwd) {
  for (const name of ['main', 'numbers']) {
    const fileName = `../src/${name}.ts`
    const { outputText, sourceMapText } = ts.transpileModule(SOURCES[`src/${name}.ts`], {
      fileName,
      compilerOptions: {
        sourceMap: true,
        module: ts.ModuleKind.CommonJS,
        target: ts.ScriptTarget.ES2020,
      },
    })
    write(cwd, `out/${name}.js`, outputText)
    const map = JSON.parse(String(sourceMapText))
    write(cwd, `out/${name}.js.map`, JSON.stringify({ ...map, sources: [fileName] }))
  }
  return 'out/main.js'
}

const MINIFIED = 'a minified bundle'
const COMPILED = 'compiled files'

/** Makes the code of a project, and returns the main file's name. @type {Record<string, (cwd: string) => string>} */
const KINDS = {
  [MINIFIED]: (cwd) => bundle(cwd, { minify: true, sourcemap: true }),
  'a minified bundle with its map inside': (cwd) =>
    bundle(cwd, { minify: true, sourcemap: 'inline' }),
  'a bundle whose map is beside it, without a comment': (cwd) =>
    bundle(cwd, { minify: true, sourcemap: 'external' }),
  'a bundle with names': (cwd) => bundle(cwd, { sourcemap: true }),
  'a bundle with a root of sources': (cwd) =>
    bundle(cwd, { minify: true, sourcemap: true, sourceRoot: '../dist' }),
  'a bundle of compiled files': (cwd) => {
    const entryPoints = [path.join(cwd, compile(cwd))]
    return bundle(cwd, { entryPoints, minify: true, sourcemap: true })
  },
  [COMPILED]: compile,
}

/** Calls the mills of files in turns, until the process has used so much CPU time. */
const RUNNER = `
  const [, , ms, ...files] = process.argv
  const mills = files.map((file) => require(file).mill)
  const usedMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
  const enough = usedMs() + Number(ms)
  do for (const mill of mills) mill.grindAll()
  while (usedMs() < enough)`

/** Creates a project of {@link SOURCES}. @param {string} cwd */
function writeProject(cwd) {
  for (const [name, text] of Object.entries(SOURCES)) write(cwd, name, text)
}

/** Records files in turns, and returns the trace. @param {string} root @param {number} ms CPU time @param {string[]} files */
async function record(root, ms, files) {
  write(root, 'run.js', RUNNER)
  const result = await run(['./run.js', String(ms), ...files], { cwd: root })
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.files.length, 1)
  return result.files[0]
}

/** Records the code of all {@link KINDS}, and reports on it. */
async function recordKinds() {
  const root = temporaryDirectory()
  /** The folder of each kind. @type {Record<string, string>} */
  const cwds = {}
  const files = Object.entries(KINDS).map(([kind, make], index) => {
    const cwd = path.join(root, `project-${index}`)
    cwds[kind] = cwd
    writeProject(cwd)
    return path.join(cwd, make(cwd))
  })
  const trace = await record(root, WORK_MS, files)
  return { root, trace, cwds, result: await report(trace, ALL) }
}

/** @type {ReturnType<typeof recordKinds> | undefined} */
let recorded
function recordOnce() {
  recorded ??= recordKinds()
  return recorded
}

/** Copies the projects and their recording, for a test that changes them. */
async function copyRecorded() {
  const { root, trace, cwds } = await recordOnce()
  const copy = temporaryDirectory()
  // A file that is newer than the recording counts as changed.
  fs.cpSync(root, copy, { recursive: true, preserveTimestamps: true })
  const moved = (/** @type {string} */ text) => text.replaceAll(root, copy)
  fs.writeFileSync(moved(trace), moved(fs.readFileSync(trace, 'utf8')))
  const entries = Object.entries(cwds).map(([kind, cwd]) => [kind, moved(cwd)])
  /** @type {typeof cwds} */
  const moves = Object.fromEntries(entries)
  return { root: copy, trace: moved(trace), cwds: moves }
}

/** Returns whether a place is in a folder. @param {string} cwd */
const isIn = (cwd) => (/** @type {{ file: string }} */ place) => place.file.startsWith(`${cwd}/`)

/**
 * Returns the places of a project's functions of {@link PLACES}, by their names.
 * @param {import('../../index.js').Report} result @param {string} cwd
 */
function places({ functions }, cwd) {
  const known = functions.filter(isIn(cwd)).filter(({ name }) => Object.hasOwn(PLACES, name))
  return Object.fromEntries(
    known.map(({ name, file, line }) => [name, `${path.relative(cwd, file)}:${line}`]),
  )
}

for (const kind of Object.keys(KINDS)) {
  test(`functions of ${kind} are those of the sources`, async () => {
    const { result, cwds } = await recordOnce()
    assert.deepEqual(places(result, cwds[kind]), PLACES)
    const packaged = result.functions
      .filter(isIn(cwds[kind]))
      .filter(({ name }) => name === 'packaged')
    assert.deepEqual(
      packaged.map((each) => each.package),
      ['crunch'],
    )
  })
}

test('a report with the places of the sources has the times of the code', async () => {
  const { trace, result } = await recordOnce()
  assert.deepEqual(result.notes, [])
  const crunch = result.packages.find(({ name }) => name === 'crunch')
  // Loading the package can take a sample too.
  const inCrunch = result.functions.filter((each) => each.package === 'crunch')
  assert.ok(inCrunch.some(({ name }) => name === 'packaged'))
  const sum = inCrunch.reduce((ms, { selfMs }) => ms + selfMs, 0)
  assert.ok(Math.abs(Number(crunch?.selfMs) - sum) < 0.001, `${crunch?.selfMs} is not ${sum}`)

  const plain = await report(trace, { ...ALL, sourceMaps: false })
  assert.equal(
    plain.functions.find(({ file }) => file.endsWith('.ts')),
    undefined,
  )
  assert.deepEqual(plain.totals, result.totals)
  assert.equal(plain.functions.length, result.functions.length)
})

test('lines are those of the sources, and no line is given where several are possible', async () => {
  const { result, cwds } = await recordOnce()
  const ofCompiled = result.lines
    .filter(isIn(cwds[COMPILED]))
    .filter(({ name }) => name === 'crunchNumbers')
  assert.ok(ofCompiled.length > 0)
  for (const { file, line } of ofCompiled) {
    assert.equal(file, path.join(cwds[COMPILED], 'src/numbers.ts'))
    assert.ok(line === 0 || (line >= 4 && line <= 9), String(line))
  }
  const ofMinified = result.lines
    .filter(isIn(cwds[MINIFIED]))
    .filter(({ name }) => Object.hasOwn(PLACES, name))
  assert.ok(ofMinified.length > 0)
  for (const { name, line } of ofMinified) {
    const start = Number(PLACES[/** @type {keyof typeof PLACES} */ (name)].split(':').at(-1))
    assert.ok(line === 0 || (line >= start && line <= start + 7), `${name}: ${line}`)
  }
})

test('merged and converted files have the places of the sources, and keep them', async () => {
  const { root, trace, cwds } = await copyRecorded()
  const before = await report(trace, ALL)
  const at = (/** @type {string} */ name) => path.join(root, 'merged', name)
  await merge(trace, at('all.json'))
  await merge(trace, at('half.json'), { from: 100 })
  await convert(trace, at('one.cpuprofile'))
  await convert(at('one.cpuprofile'), at('again.json'))
  await merge(trace, at('plain.json'), { sourceMaps: false })
  // From here on, only the files themselves can tell.
  for (const cwd of Object.values(cwds)) {
    for (const name of ['dist', 'out']) {
      fs.rmSync(path.join(cwd, name), { recursive: true, force: true })
    }
  }
  for (const name of ['all.json', 'half.json', 'one.cpuprofile', 'again.json']) {
    const result = await report(at(name), ALL)
    for (const [kind, cwd] of Object.entries(cwds)) {
      assert.deepEqual(places(result, cwd), PLACES, `${name}: ${kind}`)
    }
  }
  const after = await report(at('all.json'), ALL)
  assert.deepEqual(after.functions, before.functions)
  assert.deepEqual(after.lines, before.lines)
  const plain = await report(at('plain.json'), ALL)
  const ofMinified = plain.functions.filter(isIn(cwds[MINIFIED]))
  assert.ok(ofMinified.length > 0)
  assert.deepEqual(
    ofMinified.filter(({ file }) => file.endsWith('.ts')),
    [],
  )
  const { traceEvents } = JSON.parse(fs.readFileSync(at('all.json'), 'utf8'))
  const frames = traceEvents
    .flatMap((/** @type {any} */ event) => event.args?.data?.cpuProfile?.nodes ?? [])
    .map((/** @type {any} */ node) => node.callFrame)
  for (const cwd of Object.values(cwds)) {
    const frame = frames.find(
      (/** @type {any} */ { functionName, url }) =>
        functionName === 'grindAll' && url === `file://${cwd}/src/main.ts`,
    )
    assert.equal(frame?.lineNumber, 10, cwd)
  }
})

test('filters know the names and places of the sources', async () => {
  const { trace, cwds } = await recordOnce()
  const focused = await report(trace, { ...ALL, focus: 'src/numbers.ts:4' })
  const totalMs = (/** @type {string} */ wanted) => {
    const found = focused.functions.filter(({ name }) => name === wanted)
    return found.reduce((sum, { totalMs }) => sum + totalMs, 0)
  }
  assert.ok(totalMs('crunchNumbers') > 0)
  // Where a call begins or ends, V8 can take the function before for a caller, for a sample or two.
  assert.ok(totalMs('packaged') < 0.05 * totalMs('crunchNumbers'), String(totalMs('packaged')))
  const file = path.join(temporaryDirectory(), 't.json')
  await merge(trace, file, { focus: 'crunchNumbers' })
  const merged = await report(file, { ...ALL, sourceMaps: false })
  for (const cwd of Object.values(cwds)) {
    assert.equal(places(merged, cwd).crunchNumbers, PLACES.crunchNumbers)
  }
})

test('a missing or broken map is named once, and harms nothing', async () => {
  const { trace, cwds } = await copyRecorded()
  const cwd = cwds[MINIFIED]
  const map = path.join(cwd, 'dist/bundle.js.map')
  for (const [text, reason] of [
    ['{', /it is not a source map/],
    ['{"version":3,"sources":["a"],"mappings":"ACAA"}', /its mappings are damaged/],
    [undefined, /does not exist/],
  ]) {
    if (text === undefined) fs.rmSync(map)
    else fs.writeFileSync(map, /** @type {string} */ (text))
    const { code, stdout, stderr } = await cli(['report', trace, '--top', '99'], { cwd })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /dist\/bundle\.js:1/)
    assert.equal(stderr.match(/bundle\.js\.map/g)?.length, 1, stderr)
    assert.match(stderr, /** @type {RegExp} */ (reason))
  }
  const silent = await cli(['report', trace, '--no-source-maps'], { cwd })
  assert.equal(silent.stderr, '')
})

test('code that was built again after the recording gets no wrong lines', async () => {
  const { trace, cwds } = await copyRecorded()
  const cwd = cwds[MINIFIED]
  const source = path.join(cwd, 'src/main.ts')
  const longer = `${'// a longer name, and more of everything\n'.repeat(9)}export const shift = ${JSON.stringify('x'.repeat(500))}\n`
  fs.writeFileSync(source, `${longer}console.log(shift)\n${SOURCES['src/main.ts']}`)
  bundle(cwd, { minify: true, sourcemap: true })
  const { functions, notes } = await report(trace, ALL)
  assert.match(notes.join(), /changed after they were recorded.*dist\/bundle\.js/)
  const ofProject = functions.filter(isIn(cwd))
  assert.ok(ofProject.length > 0)
  for (const { name, file } of ofProject) assert.ok(!file.endsWith('.ts'), `${name} in ${file}`)
})

test('functions of code that was transpiled in memory without a map are marked', async () => {
  const cwd = temporaryDirectory()
  writeProject(cwd)
  write(
    cwd,
    'hook.js',
    `const ts = require(${JSON.stringify(require.resolve('typescript'))})
     require.extensions['.ts'] = (module, file) => {
       const { outputText } = ts.transpileModule(require('node:fs').readFileSync(file, 'utf8'), {
         compilerOptions: { module: 'commonjs', target: 'es2020', removeComments: true } })
       module._compile('\\n\\n\\n' + outputText.replaceAll('\\n', ''), file)
     }
     exports.mill = require('./src/main.ts').mill`,
  )
  const trace = await record(cwd, 1000, ['./hook.js'])
  const { functions, notes } = await report(trace, ALL)
  const marked = functions.filter(({ transpiled }) => transpiled).map(({ name }) => name)
  assert.ok(marked.includes('crunchNumbers'), marked.join())
  assert.ok(
    !functions.some(({ file, transpiled }) => file.endsWith('crunch/index.js') && transpiled),
  )
  assert.match(notes.join(), /transpiled code.*src\/numbers\.ts/)
  const { stdout } = await cli(['report', trace], { cwd })
  assert.match(stdout, /crunchNumbers +src\/numbers\.ts:4 \(transpiled\)/)
})
