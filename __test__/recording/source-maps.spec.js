'use strict'

// Functions and lines of the sources that code was made from.

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
  ms: number
}

export class Mill {
  constructor(private readonly options: Options) {}

  grindAll(): number {
    let sum = 0
    for (const end = performance.now() + this.options.ms; performance.now() < end; ) {
      sum += crunchNumbers(9) + packaged(9)
    }
    return sum
  }
}

new Mill({ ms: 400 }).grindAll()
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

/** Creates a project of {@link SOURCES}. */
function project() {
  const cwd = fs.realpathSync(temporaryDirectory())
  for (const [name, text] of Object.entries(SOURCES)) write(cwd, name, text)
  return cwd
}

/** @param {string} cwd @param {string} name @param {string} text */
function write(cwd, name, text) {
  fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true })
  fs.writeFileSync(path.join(cwd, name), text)
}

/**
 * Bundles a project into dist/bundle.js.
 * @param {string} cwd @param {import('esbuild').BuildOptions} options
 */
function bundle(cwd, options) {
  const entryPoints = [path.join(cwd, 'src/main.ts')]
  const outfile = path.join(cwd, 'dist/bundle.js')
  esbuild.buildSync({ entryPoints, outfile, bundle: true, platform: 'node', ...options })
}

/** Compiles the sources of a project into `out`. @param {string} cwd */
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
}

/**
 * Returns the places of a report's functions of {@link PLACES}, by their names.
 * @param {import('../../index.js').Report} result @param {string} cwd
 */
function places({ functions }, cwd) {
  const known = functions.filter(({ name }) => Object.hasOwn(PLACES, name))
  return Object.fromEntries(
    known.map(({ name, file, line }) => [name, `${path.relative(cwd, file)}:${line}`]),
  )
}

/** @param {string} cwd @param {string} main */
async function record(cwd, main) {
  const { code, stderr, files, pid } = await run([`./${main}`], { cwd })
  assert.equal(code, 0, stderr)
  const file = files.find((name) => name.includes(`.${pid}.`))
  assert.ok(file)
  return file
}

for (const [name, options] of Object.entries({
  'a minified bundle': { minify: true, sourcemap: true },
  'a minified bundle with its map inside': { minify: true, sourcemap: 'inline' },
  'a bundle whose map is beside it, without a comment': { minify: true, sourcemap: 'external' },
  'a bundle with names': { sourcemap: true },
  'a bundle with a root of sources': { minify: true, sourcemap: true, sourceRoot: '../dist' },
})) {
  test(`functions of ${name} are those of the sources`, async () => {
    const cwd = project()
    bundle(cwd, /** @type {import('esbuild').BuildOptions} */ (options))
    const trace = await record(cwd, 'dist/bundle.js')
    const result = await report(trace)
    assert.deepEqual(places(result, cwd), PLACES)
    assert.deepEqual(result.notes, [])
    assert.ok(result.packages.some((row) => row.name === 'crunch' && row.totalMs > 50))

    const plain = await report(trace, { sourceMaps: false })
    assert.equal(
      plain.functions.find(({ file }) => file.endsWith('.ts')),
      undefined,
    )
    assert.deepEqual(plain.totals, result.totals)
    assert.equal(plain.functions.length, result.functions.length)
  })
}

test('a bundle of compiled files leads to the files that were compiled', async () => {
  const cwd = project()
  compile(cwd)
  bundle(cwd, { entryPoints: [path.join(cwd, 'out/main.js')], minify: true, sourcemap: true })
  const result = await report(await record(cwd, 'dist/bundle.js'))
  assert.deepEqual(places(result, cwd), PLACES)
})

test('lines are those of the sources, and no line is given where several are possible', async () => {
  const cwd = project()
  compile(cwd)
  const compiled = await report(await record(cwd, 'out/main.js'))
  const lines = compiled.lines.filter(({ name }) => name === 'crunchNumbers')
  assert.ok(lines.length > 0)
  for (const { file, line } of lines) {
    assert.equal(file, path.join(cwd, 'src/numbers.ts'))
    assert.ok(line === 0 || (line >= 4 && line <= 9), String(line))
  }
  bundle(cwd, { minify: true, sourcemap: true })
  const trace = await record(cwd, 'dist/bundle.js')
  const minified = await report(trace)
  for (const { name, line } of minified.lines.filter(({ name }) => name in PLACES)) {
    const start = Number(PLACES[/** @type {keyof typeof PLACES} */ (name)].split(':').at(-1))
    assert.ok(line === 0 || (line >= start && line <= start + 7), `${name}: ${line}`)
  }
})

test('merged and converted files have the places of the sources, and keep them', async () => {
  const cwd = project()
  bundle(cwd, { minify: true, sourcemap: true })
  const trace = await record(cwd, 'dist/bundle.js')
  const before = await report(trace)
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  await merge(trace, at('merged/all.json'))
  await merge(trace, at('merged/half.json'), { from: 100 })
  await convert(trace, at('merged/one.cpuprofile'))
  await convert(at('merged/one.cpuprofile'), at('merged/again.json'))
  await merge(trace, at('merged/plain.json'), { sourceMaps: false })
  // From here on, only the files themselves can tell.
  fs.rmSync(at('dist'), { recursive: true })
  for (const name of ['all.json', 'half.json', 'one.cpuprofile', 'again.json']) {
    assert.deepEqual(places(await report(at(`merged/${name}`)), cwd), PLACES, name)
  }
  const after = await report(at('merged/all.json'))
  assert.deepEqual(after.functions, before.functions)
  assert.deepEqual(after.lines, before.lines)
  const plain = await report(at('merged/plain.json'))
  assert.deepEqual(
    plain.functions.filter(({ file }) => file.endsWith('.ts')),
    [],
  )
  const { traceEvents } = JSON.parse(fs.readFileSync(at('merged/all.json'), 'utf8'))
  const nodes = traceEvents.flatMap(
    (/** @type {any} */ event) => event.args?.data?.cpuProfile?.nodes ?? [],
  )
  const frame = nodes.find(
    (/** @type {any} */ node) => node.callFrame.functionName === 'grindAll',
  ).callFrame
  assert.equal(frame.url, `file://${cwd}/src/main.ts`)
  assert.equal(frame.lineNumber, 10)
})

test('filters know the names and places of the sources', async () => {
  const cwd = project()
  bundle(cwd, { minify: true, sourcemap: true })
  const trace = await record(cwd, 'dist/bundle.js')
  const focused = await report(trace, { focus: 'src/numbers.ts:4' })
  assert.ok(focused.functions.some(({ name }) => name === 'crunchNumbers'))
  assert.ok(!focused.functions.some(({ name }) => name === 'packaged'))
  await merge(trace, path.join(cwd, 'focused/t.json'), { focus: 'crunchNumbers' })
  const merged = await report(path.join(cwd, 'focused/t.json'), { sourceMaps: false })
  assert.equal(places(merged, cwd).crunchNumbers, PLACES.crunchNumbers)
})

test('a missing or broken map is named once, and harms nothing', async () => {
  const cwd = project()
  bundle(cwd, { minify: true, sourcemap: true })
  const trace = await record(cwd, 'dist/bundle.js')
  const map = path.join(cwd, 'dist/bundle.js.map')
  for (const [text, reason] of [
    ['{', /it is not a source map/],
    ['{"version":3,"sources":["a"],"mappings":"ACAA"}', /its mappings are damaged/],
    [undefined, /does not exist/],
  ]) {
    if (text === undefined) fs.rmSync(map)
    else fs.writeFileSync(map, /** @type {string} */ (text))
    const { code, stdout, stderr } = await cli(['report', trace], { cwd })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /dist\/bundle\.js:1/)
    assert.equal(stderr.match(/bundle\.js\.map/g)?.length, 1, stderr)
    assert.match(stderr, /** @type {RegExp} */ (reason))
  }
  const silent = await cli(['report', trace, '--no-source-maps'], { cwd })
  assert.equal(silent.stderr, '')
})

test('code that was built again after the recording gets no wrong lines', async () => {
  const cwd = project()
  bundle(cwd, { minify: true, sourcemap: true })
  const trace = await record(cwd, 'dist/bundle.js')
  const source = path.join(cwd, 'src/main.ts')
  const longer = `${'// a longer name, and more of everything\n'.repeat(9)}export const shift = ${JSON.stringify('x'.repeat(500))}\n`
  fs.writeFileSync(source, `${longer}console.log(shift)\n${SOURCES['src/main.ts']}`)
  bundle(cwd, { minify: true, sourcemap: true })
  const { functions, notes } = await report(trace)
  assert.match(notes.join(), /changed after they were recorded.*dist\/bundle\.js/)
  for (const { name, file } of functions.filter(({ name }) => Object.hasOwn(PLACES, name))) {
    assert.ok(!file.endsWith('.ts'), `${name} in ${file}`)
  }
})

test('functions of code that was transpiled in memory without a map are marked', async () => {
  const cwd = project()
  write(
    cwd,
    'hook.js',
    `const ts = require(${JSON.stringify(require.resolve('typescript'))})
     require.extensions['.ts'] = (module, file) => {
       const { outputText } = ts.transpileModule(require('node:fs').readFileSync(file, 'utf8'), {
         compilerOptions: { module: 'commonjs', target: 'es2020', removeComments: true } })
       module._compile('\\n\\n\\n' + outputText.replaceAll('\\n', ''), file)
     }
     require('./src/main.ts')`,
  )
  const trace = await record(cwd, 'hook.js')
  const { functions, notes } = await report(trace)
  const marked = functions.filter(({ transpiled }) => transpiled).map(({ name }) => name)
  assert.ok(marked.includes('crunchNumbers'), marked.join())
  assert.ok(
    !functions.some(({ file, transpiled }) => file.endsWith('crunch/index.js') && transpiled),
  )
  assert.match(notes.join(), /transpiled code.*src\/numbers\.ts/)
  const { stdout } = await cli(['report', trace], { cwd })
  assert.match(stdout, /crunchNumbers +src\/numbers\.ts:4 \(transpiled\)/)
})
