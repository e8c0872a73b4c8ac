'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')
const {
  NEEDS_AN_INSPECTOR,
  NEEDS_BUILT_INS_BY_TEXT,
  NEEDS_WAKE_UP,
} = require('../helpers/source.js')

const MODULES = path.join(PACKAGE, 'node_modules')

/** The runners' own limits of a few seconds are too short for a machine that stands still. */
const TIMEOUT = '--testTimeout=60000'

/**
 * A test runner: its command, its report of the tests, and the recipe for its hooks.
 * @typedef {object} Runner
 * @property {string[]} command
 * @property {string[]} files the test files
 * @property {string[]} functions a function of each file
 * @property {(stdout: string) => string[]} outcome reads the result of each test
 * @property {string[]} recipes the files of its recipe
 * @property {string[]} [hooks] arguments that load the hooks
 */

/** @type {Record<'jest' | 'vitest' | 'mocha' | 'node', Runner>} */
const RUNNERS = {
  jest: {
    command: [path.join(MODULES, 'jest', 'bin', 'jest.js'), '--json', '--transform={}', TIMEOUT],
    files: ['first.test.js', 'second.test.js'],
    functions: ['firstOfJest', 'secondOfJest'],
    outcome: jestOutcome,
    recipes: ['record.jest.js', 'jest.config.js'],
  },
  vitest: {
    command: [path.join(MODULES, 'vitest', 'vitest.mjs'), 'run', '--reporter=json', TIMEOUT],
    files: ['first.test.mjs', 'second.test.mjs'],
    functions: ['firstOfVitest', 'secondOfVitest'],
    outcome: jestOutcome,
    recipes: ['record.vitest.mjs', 'vitest.config.mjs'],
  },
  mocha: {
    command: [path.join(MODULES, 'mocha', 'bin', 'mocha.js'), '--reporter=json', '--timeout=60000'],
    files: ['first.test.js', 'second.test.js'],
    functions: ['firstOfMocha', 'secondOfMocha'],
    outcome: mochaOutcome,
    recipes: ['record.mocha.js'],
    hooks: ['--require', './record.mocha.js'],
  },
  node: {
    command: ['--test', '--test-reporter=tap'],
    files: ['first.test.js', 'second.test.js'],
    functions: ['firstOfNode', 'secondOfNode'],
    outcome: tapOutcome,
    recipes: ['record.node.js'],
    hooks: ['--require', './record.node.js'],
  },
}

/** @param {string} stdout */
function jestOutcome(stdout) {
  /** @type {{ assertionResults: { title: string, status: string }[] }[]} */
  const files = JSON.parse(stdout).testResults
  const tests = files.flatMap((file) => file.assertionResults)
  return tests.map(({ title, status }) => `${title}: ${status}`)
}

/** @param {string} stdout */
function mochaOutcome(stdout) {
  /** @type {{ passes: { title: string }[], failures: { title: string }[] }} */
  const { passes, failures } = JSON.parse(stdout)
  return [
    ...failures.map(({ title }) => `${title}: failed`),
    ...passes.map(({ title }) => `${title}: passed`),
  ]
}

/** @param {string} stdout */
function tapOutcome(stdout) {
  const lines = stdout.matchAll(/^(not ok|ok) \d+ - (.*)$/gm)
  return [...lines].map(([, ok, title]) => `${title}: ${ok === 'ok' ? 'passed' : 'failed'}`)
}

/** The code blocks in the documentation that begin with a file name. */
const RECIPES = new Map(
  Array.from(
    fs
      .readFileSync(path.join(PACKAGE, 'docs', 'slow-tests.md'), 'utf8')
      .matchAll(/^```js\n\/\/ (\S+)\n([\s\S]*?)^```$/gm),
    ([, file, source]) => [file, source],
  ),
)

/**
 * Makes a project with the runner's fixtures, some recipes, and the package in its node_modules.
 * @param {keyof typeof RUNNERS} runner @param {string[]} [recipes]
 */
function project(runner, recipes = []) {
  const dir = temporaryDirectory()
  const installed = path.join(dir, 'node_modules', '@org', 'cpu-prof')
  fs.mkdirSync(installed, { recursive: true })
  for (const file of fs.readdirSync(PACKAGE)) {
    if (!/\.(js|node)$|^package\.json$|^lib$/.test(file)) continue
    fs.cpSync(path.join(PACKAGE, file), path.join(installed, file), { recursive: true })
  }
  fs.cpSync(path.join(PACKAGE, 'lib'), path.join(installed, 'lib'), { recursive: true })
  if (runner !== 'node') {
    fs.symlinkSync(path.join(MODULES, runner), path.join(dir, 'node_modules', runner))
  }
  fs.cpSync(path.join(FIXTURES, 'runners', runner), dir, { recursive: true })
  fs.copyFileSync(path.join(FIXTURES, 'spin.js'), path.join(dir, 'spin.js'))
  fs.writeFileSync(path.join(dir, 'package.json'), '{}')
  for (const recipe of recipes) {
    const source = RECIPES.get(recipe)
    assert.ok(source, `there is no recipe ${recipe}`)
    fs.writeFileSync(path.join(dir, recipe), source)
  }
  return dir
}

/**
 * Runs tests in a project; the traces are in its folder `profiles`.
 * @param {keyof typeof RUNNERS} runner @param {string[]} args @param {string} cwd
 * @param {{ isPreloaded?: boolean }} [options]
 */
async function runTests(runner, args, cwd, { isPreloaded = false } = {}) {
  const { command, outcome } = RUNNERS[runner]
  const result = await run([...command, ...args], {
    preload: [],
    cwd,
    env: {
      CPU_PROF_DIR: 'profiles',
      NODE_OPTIONS: isPreloaded ? '--require @org/cpu-prof' : undefined,
    },
  })
  assert.doesNotMatch(result.stderr, /^cpu-prof: /m)
  for (const { ended, file, pid } of result.traces) {
    // Vitest sends its processes SIGTERM, and SIGKILL a second later. A starved one has no end then.
    const isKilled = runner === 'vitest' && pid !== result.pid
    assert.ok(ended || isKilled, `${file} is not finished`)
  }
  return { ...result, outcome: outcome(result.stdout).sort() }
}

/** Returns the traces that contain a function. @param {any[]} traces @param {string} name */
function tracesWith(traces, name) {
  const isNamed = (/** @type {any} */ frame) => frame.functionName === name
  return traces.filter((trace) => trace.totalShare(isNamed) > 0)
}

/** Where tests run, and whether a trace comes from there. @type {Record<string, (trace: any, pid: any) => boolean>} */
const PLACES = {
  'the first process': (trace, pid) => trace.pid === pid && trace.tid === 0,
  'child processes': (trace, pid) => trace.pid !== pid && trace.tid === 0,
  workers: (trace, pid) => trace.pid === pid && trace.tid !== 0,
}

for (const { runner, args = [], place, since = 18 } of /** @type {const} */ ([
  { runner: 'jest', args: ['--runInBand'], place: 'the first process' },
  { runner: 'jest', args: ['--maxWorkers=2'], place: 'child processes' },
  { runner: 'jest', args: ['--maxWorkers=2', '--workerThreads'], place: 'workers' },
  { runner: 'vitest', args: ['--pool=forks'], place: 'child processes' },
  { runner: 'vitest', args: ['--pool=threads'], place: 'workers' },
  { runner: 'vitest', args: ['--pool=vmThreads'], place: 'workers' },
  { runner: 'mocha', place: 'the first process' },
  { runner: 'mocha', args: ['--parallel'], place: 'child processes' },
  { runner: 'node', place: 'child processes' },
  { runner: 'node', args: ['--test-isolation=none'], place: 'the first process', since: 24 },
])) {
  const name = [runner, ...args].join(' ')
  const skip = Number.parseInt(process.versions.node, 10) < since && `from Node ${since} on`
  const { files, functions, recipes, hooks = [] } = RUNNERS[runner]
  // A new cache for each run: jest remembers which tests are fast, and runs them in its first process.
  const cache = runner === 'jest' ? ['--cacheDirectory=cache'] : []
  const full = [...args, ...cache]
  const isFromPlace = PLACES[place]

  test(`${name}: the preload records the tests in ${place}`, {
    skip:
      skip ||
      // Vitest kills its processes and workers.
      (runner === 'vitest' && NEEDS_WAKE_UP) ||
      (runner === 'node' && NEEDS_AN_INSPECTOR),
  }, async () => {
    const options = { isPreloaded: true }
    const result = await runTests(runner, [...full, ...files], project(runner), options)
    assert.deepEqual(result.outcome, ['fails: failed', 'passes: passed'])
    assert.equal(result.code, 1)
    for (const name of functions) {
      const traces = tracesWith(result.traces, name)
      assert.equal(traces.length, 1, name)
      assert.ok(isFromPlace(traces[0], result.pid), `${name} is in ${traces[0].file}`)
    }
    assert.ok(result.traces.some(({ pid, tid }) => pid === result.pid && tid === 0))
  })

  test(`${name}: hooks record each test in ${place}`, { skip }, async () => {
    const cwd = project(runner, recipes)
    const result = await runTests(runner, [...full, ...hooks, ...files], cwd)
    assert.deepEqual(result.outcome, ['fails: failed', 'passes: passed'])
    assert.equal(result.code, 1)
    assert.equal(result.traces.length, 2)
    const labels = result.traces.map(({ metadata }) => metadata.recordingLabel)
    assert.deepEqual(labels.sort(), ['fails', 'passes'])
    const names = result.files.map((file) => path.basename(file).replace(/\d+/g, '0'))
    assert.deepEqual(names, ['fails.0.0.trace.json', 'passes.0.0.trace.json'])
    for (const name of functions) {
      const traces = tracesWith(result.traces, name)
      assert.equal(traces.length, 1, name)
      assert.ok(isFromPlace(traces[0], result.pid), `${name} is in ${traces[0].file}`)
    }
  })
}

test('jest: one test file starts a recording, and another file with its own copy stops it', async () => {
  const args = ['--runInBand', '--testRegex=st(art|op)s.js$', '--testSequencer=./sequencer.js']
  const { outcome, code, stderr, traces } = await runTests('jest', args, project('jest'))
  assert.deepEqual(outcome, ['starts: passed', 'stops: passed'], stderr)
  assert.equal(code, 0)
  assert.equal(traces.length, 1)
  assert.equal(tracesWith(traces, 'inStarts').length, 1)
  assert.equal(tracesWith(traces, 'inStops').length, 1)
})

test('jest: a worker process that jest kills has a complete trace', {
  skip: NEEDS_WAKE_UP,
}, async () => {
  const args = ['--maxWorkers=2', '--cacheDirectory=cache', '--testRegex=leaks.*.js$']
  const cwd = project('jest')
  fs.copyFileSync(path.join(cwd, 'leaks.js'), path.join(cwd, 'leaks-again.js'))
  const result = await runTests('jest', args, cwd, { isPreloaded: true })
  assert.deepEqual(result.outcome, ['leaves a timer: passed', 'leaves a timer: passed'])
  assert.equal(result.code, 0)
  assert.match(result.stderr, /has been force exited/)
  const traces = tracesWith(result.traces, 'leaks')
  assert.ok(traces.length > 0)
  for (const { pid } of traces) assert.notEqual(pid, result.pid)
})

/** Makes a project with the recipe of a share, with a change in its test. @param {string} from @param {string} to */
function sharesProject(from, to) {
  const cwd = project('node', ['shares.js', 'shares.test.js'])
  const file = path.join(cwd, 'shares.test.js')
  const source = fs.readFileSync(file, 'utf8')
  assert.ok(source.includes(from), source)
  fs.writeFileSync(file, source.replace(from, to))
  return cwd
}

test('a test can assert the share of a function', async () => {
  // A second of work, so that the shares hold where the machine stands still.
  const cwd = sharesProject('round < 2000', 'round < 8000')
  const { outcome, stdout } = await runTests('node', ['shares.test.js'], cwd)
  assert.deepEqual(outcome, ['parsing takes less than a quarter of the time: passed'], stdout)
})

test('a test fails if the share of a function has grown', {
  skip: NEEDS_BUILT_INS_BY_TEXT,
}, async () => {
  const slower = 'for (let i = 0; i < 200; i++) JSON.parse(text)\n  return JSON.parse(text)'
  const cwd = sharesProject('return JSON.parse(text)', slower)
  const { outcome, stdout } = await runTests('node', ['shares.test.js'], cwd)
  assert.deepEqual(outcome, ['parsing takes less than a quarter of the time: failed'])
  assert.match(stdout, /parse\(\) took 0\.\d+/)
})
