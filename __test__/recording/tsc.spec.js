'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { runTraces } = require('../helpers/run-traces.js')
const { run, cleanEnv, temporaryDirectory, SOURCE } = require('../helpers/run.js')
const { write } = require('../helpers/workspace.js')

// Compares cpu-prof with Node's own profiler on a real program: TypeScript's compiler with the DOM
// types.

const TSC = require.resolve('typescript/bin/tsc')
/** The compiler as a module, as text of JavaScript. */
const TS = JSON.stringify(require.resolve('typescript'))

/** Computes self and total shares by function from nodes by id and the node ids of samples. */
function shares(
  /** @type {Map<number, {parent?: number, name: string}>} */ nodes,
  /** @type {number[]} */ samples,
) {
  /** @type {Map<string, number>} */
  const self = new Map()
  /** @type {Map<string, number>} */
  const total = new Map()
  const add = (/** @type {Map<string, number>} */ map, /** @type {string} */ name) =>
    map.set(name, (map.get(name) ?? 0) + 1 / samples.length)
  for (const sample of samples) {
    add(self, nodes.get(sample)?.name ?? '')
    const names = new Set()
    for (let id = /** @type {number | undefined} */ (sample); id !== undefined; ) {
      const node = nodes.get(id)
      names.add(node?.name)
      id = node?.parent
    }
    for (const name of names) add(total, name)
  }
  return { self, total }
}

/** Reads a .cpuprofile of Node's own profiler. @param {string} file */
function builtInShares(file) {
  const profile = JSON.parse(fs.readFileSync(file, 'utf8'))
  const nodes = new Map()
  for (const { id, callFrame } of profile.nodes) nodes.set(id, { name: callFrame.functionName })
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) nodes.get(child).parent = id
  }
  return shares(nodes, profile.samples)
}

/** Returns the functions with the largest shares. @param {Map<string, number>} map */
const hottest = (map, /** @type {number} */ count) =>
  [...map]
    .filter(([name]) => !name.startsWith('('))
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)

test("tsc has the same hot functions as with Node's own profiler: each total within 15 percent points, and their self time by half", async () => {
  const project = temporaryDirectory()
  fs.writeFileSync(path.join(project, 'main.ts'), 'export const one: number = 1\n')
  const args = [TSC, '--noEmit', '--lib', 'es2022,dom']
  args.push('--skipLibCheck', 'false', path.join(project, 'main.ts'))

  const { code, traces, stdout } = await run(args, { cwd: project })
  assert.equal(code, 0, stdout)
  const [trace] = traces
  const ours = shares(
    new Map(
      [...trace.nodes].map(([id, { parent, callFrame }]) => [
        id,
        { parent, name: callFrame.functionName },
      ]),
    ),
    trace.samples.map(({ node }) => node.id),
  )

  const dir = temporaryDirectory()
  spawnSync(process.execPath, ['--cpu-prof', `--cpu-prof-dir=${dir}`, ...args], {
    cwd: project,
    env: cleanEnv(),
  })
  const builtIn = builtInShares(path.join(dir, fs.readdirSync(dir)[0]))

  // The first ten have nearly all of the time. The last of them has an eighth, half a second.
  for (const [name, share] of hottest(builtIn.total, 50)) {
    const other = ours.total.get(name) ?? 0
    const isNear = Math.abs(other - share) < 0.15 && other > share / 3
    assert.ok(isNear, `total of ${name}: ${other}, built-in ${share}`)
  }
  // One function has about one percent, and so few samples that only the sum says something.
  const hot = hottest(builtIn.self, 20)
  const builtInHot = hot.reduce((sum, [, share]) => sum + share, 0)
  const oursHot = hot.reduce((sum, [name]) => sum + (ours.self.get(name) ?? 0), 0)
  assert.ok(Math.abs(oursHot - builtInHot) < 0.5 * builtInHot, `${oursHot}, ${builtInHot}`)

  assert.equal(trace.processLabel.split(':')[0], 'tsc')
})

/** A type that takes the compiler long: the sum of two numbers, as the length of a tuple. */
const SLOW = `
  type Tuple<N extends number, R extends unknown[] = []> = R['length'] extends N ? R : Tuple<N, [...R, 0]>
  type Sum<A extends number, B extends number> = [...Tuple<A>, ...Tuple<B>]['length']
  ${Array.from({ length: 40 }, (_, i) => `export const sum${i}: Sum<${300 + i}, 400> = ${700 + i}`).join('\n')}`

/** Creates a repository of two projects, of which the second needs the first and has the slow file. */
function createProjects() {
  const cwd = temporaryDirectory('cpu-prof-tsc-')
  const project = (/** @type {string[]} */ ...references) => ({
    compilerOptions: {
      composite: true,
      outDir: 'dist',
      rootDir: 'src',
      types: [],
      lib: ['es2022'],
    },
    references: references.map((name) => ({ path: `../${name}` })),
    include: ['src'],
  })
  const packages = ['core', 'slow'].map((name) => ({ path: `packages/${name}` }))
  write(cwd, {
    'tsconfig.json': { files: [], references: packages },
    'packages/core/tsconfig.json': project(),
    'packages/core/src/one.ts': 'export const one: number = 1',
    'packages/slow/tsconfig.json': project('core'),
    'packages/slow/src/quick.ts': "export { one } from '../../core/src/one'",
    'packages/slow/src/sums.ts': SLOW,
  })
  return cwd
}

/** Returns the contents of all files that a build has written. @param {string} cwd */
function builtFiles(cwd) {
  const names = fs.readdirSync(path.join(cwd, 'packages'), { recursive: true }).map(String)
  return Object.fromEntries(
    names
      .filter((name) => /dist|tsbuildinfo/.test(name))
      .map((name) => path.join('packages', name))
      .filter((name) => fs.statSync(path.join(cwd, name)).isFile())
      .sort()
      .map((name) => [name, fs.readFileSync(path.join(cwd, name), 'utf8')]),
  )
}

test('with the category typescript, tsc -b is told by project and checked file, and builds the same', async () => {
  const [cwd, plain] = [createProjects(), createProjects()]
  const args = [TSC, '-b', '--pretty', 'false', '--listEmittedFiles']
  const unprofiled = spawnSync(process.execPath, args, {
    cwd: plain,
    env: cleanEnv(),
    encoding: 'utf8',
  })
  const categories = 'cpu,gc,memory,loop,timings,processes,typescript'
  const { code, stdout, stderr } = await cli(
    ['run', '--categories', categories, process.execPath, ...args],
    { cwd },
  )
  assert.equal(unprofiled.status, 0, unprofiled.stdout)
  assert.equal(code, 0, stdout + stderr)
  assert.equal(stdout, unprofiled.stdout.replaceAll(plain, cwd))
  assert.deepEqual(builtFiles(cwd), builtFiles(plain))

  const [trace] = runTraces(cwd)
  const { projects = [], processes } = await report(trace, { projects: true })
  const found = (/** @type {string} */ name) =>
    projects.find((project) => project.path === path.join(cwd, 'packages', name)) ??
    assert.fail(`${name}: ${JSON.stringify(projects)}`)
  const [core, slow] = [found('core'), found('slow')]
  assert.ok(slow.totalMs > core.totalMs, JSON.stringify(projects))
  const [first] = slow.files
  assert.equal(first.file, path.join(cwd, 'packages', 'slow', 'src', 'sums.ts'))
  const phase = (/** @type {string} */ name) =>
    slow.phases.find((each) => each.name === name)?.totalMs ?? 0
  assert.ok(first.totalMs > 0.5 * phase('check'), JSON.stringify(slow))
  assert.ok(phase('check') > phase('emit'), JSON.stringify(slow.phases))
  // All work is that of a project.
  const work = processes.flatMap(({ threads }) => threads)
  const workMs = work.reduce(
    (sum, thread) => sum + thread.javascriptMs + thread.nativeMs + thread.gcMs,
    0,
  )
  const sumMs = projects.reduce((sum, { totalMs }) => sum + totalMs, 0)
  assert.ok(Math.abs(sumMs - workMs) < 0.001 * workMs, `${sumMs} of ${workMs}`)
})

/** Says whether Node has loaded its inspector, and how the list of modules looks to a program. */
const STATE = `
  const { cache } = require
  const keys = []
  for (const key in cache) keys.push(key)
  const others = Object.keys(cache).filter((key, index) => key !== keys[index]).length
  const state = () => [
    process.moduleLoadList.includes('NativeModule inspector'),
    others,
    '/absent.js' in cache,
    delete cache['/absent.js'],
    typeof cache.hasOwnProperty,
  ].join()
  console.log(state())`
const ENV = { CPU_PROF_CATEGORIES: 'cpu,typescript' }
const COMPILES = `
  const program = ts.createProgram({
    rootNames: ['one.ts'],
    options: { configFilePath: '/spec/tsconfig.json', noEmit: true, types: [] },
  })
  program.getSemanticDiagnostics(program.getSourceFile('one.ts'))`

/** Returns what a trace tells of the compiler, without the compiler's own files. @param {{ events: any[] }} trace */
const compiledIn = ({ events }) =>
  events
    .map((event) => event.args?.data)
    .filter((data) => data?.typescript !== undefined && !data.name.includes('lib/lib.'))
    .map(({ name }) => name)

test('with the category typescript, a thread has no debugger before it loads the compiler', {
  skip: SOURCE !== 'v8' && 'the inspector source loads the inspector itself',
}, async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'one.ts'), 'export const one: number = 1')
  fs.writeFileSync(path.join(cwd, 'compiles.cjs'), `const ts = require(${TS})\n${COMPILES}`)
  const source = `${STATE}
    const { Worker } = require('node:worker_threads')
    new Worker('./compiles.cjs').once('exit', () => console.log(state()))`
  const { stdout, traces } = await run(['-e', source], { cwd, env: ENV })
  const quiet = 'false,0,false,true,undefined'
  assert.equal(stdout, `${quiet}\n${quiet}\n`)
  assert.deepEqual(
    traces.map((trace) => compiledIn(trace).length > 0),
    [false, true],
  )
})

for (const [how, load] of Object.entries({
  require: (/** @type {string} */ file) => `const ts = require(${file})`,
  import: (/** @type {string} */ file) => `import ts from ${file}`,
})) {
  test(`with the category typescript, the first project of a compiler from ${how} is told`, async () => {
    const cwd = temporaryDirectory()
    fs.writeFileSync(path.join(cwd, 'one.ts'), 'export const one: number = 1')
    const main = path.join(cwd, how === 'import' ? 'main.mjs' : 'main.cjs')
    fs.writeFileSync(main, `${load(TS)}\n${COMPILES}`)
    const { code, stderr, traces } = await run([main], { cwd, env: ENV })
    assert.equal(code, 0, stderr)
    assert.deepEqual(compiledIn(traces[0]), ['project spec/tsconfig.json', 'check one.ts'])
  })
}
