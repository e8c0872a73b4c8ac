'use strict'

// What the command line says about errors: wrong usage, what cannot be read, and defects of its own.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const index = require('../../index.js')
const { isDefect } = require('../../lib/errors/defect.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { connect } = require('../../packages/mcp/__test__/helpers/mcp.js')
const { writeTrace } = require('../helpers/written.js')

const { name } = require('../../package.json')

const IS_DEFECT = /this is a defect of cpu-prof/
/** What a line about a defect has to say. */
const ADVICE = new RegExp(
  `run the command again with CPU_PROF_DEBUG=1.* the maintainers of ${name}$`,
)
/** A function of the package that a defect is put into. */
const BROKEN = 'brokenOnPurpose'
const STACK = new RegExp(`^ +at (async |new )?(\\w+\\.)?${BROKEN} `, 'm')

/** Throws what JavaScript throws where a program has a defect. */
const OWN_ERROR = 'const none = undefined; return none.rows'

/**
 * Returns an environment in which a function of a module has a defect.
 * @param {string} module path in the package @param {string} key of the function
 * @param {string} [body] of the function @param {string} [of] what has the function, of `module`
 */
function withDefect(module, key, body = OWN_ERROR, of = 'module') {
  const script = path.join(temporaryDirectory(), 'defect.js')
  const file = JSON.stringify(path.join(PACKAGE, module))
  const broken = `function ${BROKEN}() { ${body} }`
  fs.writeFileSync(
    script,
    `const module_ = require(${file})\n${of.replace('module', 'module_')}.${key} = ${broken}\n`,
  )
  return { NODE_OPTIONS: `--require ${script}` }
}

/** Runs a command in which there is a defect, also with the stack. @param {string[]} args @param {Record<string, string>} env */
async function defectOf(args, env) {
  const usual = await cli(args, { env })
  assert.equal(usual.code, 1, usual.stderr)
  const lines = usual.stderr.trimEnd().split('\n')
  assert.equal(lines.length, 1, usual.stderr)
  assert.match(lines[0], IS_DEFECT)
  assert.match(lines[0], ADVICE)

  const debug = await cli(args, { env: { ...env, CPU_PROF_DEBUG: '1' } })
  assert.equal(debug.code, 1)
  const [line] = debug.stderr.split('\n', 1)
  assert.match(line, IS_DEFECT)
  assert.match(line, new RegExp(`please report this output to the maintainers of ${name}$`))
  return { line: lines[0], debug: debug.stderr }
}

for (const [what, args, module, key] of /** @type {[string, string[], string, string][]} */ ([
  ['compare', ['compare', 'base', 'head'], 'lib/offline.js', 'compare'],
  ['report', ['report', 'trace.json'], 'lib/offline.js', 'report'],
  ['merge', ['merge', 'a.json', '-o', 'out.json'], 'lib/offline.js', 'merge'],
  ['check', ['check', 'a.json'], 'lib/offline.js', 'check'],
  ['convert', ['convert', 'a.json', '-o', 'a.cpuprofile'], 'lib/offline.js', 'convert'],
  [
    'push',
    ['push', 'a.json', '--to', 'http://127.0.0.1:9'],
    'packages/fleet/push/slices.js',
    'Slices',
  ],
  ['a question to a lake', ['lake', 'top', 'lake'], 'packages/fleet/lake/duckdb.js', 'openLake'],
  ['lake sql', ['lake', 'sql', 'lake', 'SELECT 1'], 'packages/fleet/lake/duckdb.js', 'openLake'],
  ['lake compact', ['lake', 'compact', 'lake'], 'packages/fleet/base/store.js', 'openStore'],
  ['run', ['run', 'node', '--version'], 'cli/run/prepare/plan.js', 'planRun'],
  ['a command that catches nothing', ['status', '--all'], 'cli/remote/targets.js', 'findTargets'],
])) {
  test(`an error of JavaScript in ${what} is a defect, and no wrong usage`, async () => {
    const { line, debug } = await defectOf(args, withDefect(module, key))
    assert.ok(line.includes('TypeError: Cannot read properties of undefined'), line)
    assert.match(debug, STACK)
  })
}

test('so is one that nobody can catch', async () => {
  const later = `return new Promise(() => setImmediate(function ${BROKEN}() { ${OWN_ERROR} }))`
  const env = withDefect('lib/offline.js', 'report', later)
  const { debug } = await defectOf(['report', 'trace.json'], env)
  assert.match(debug, STACK)
})

test('a panic of the addon is a defect, and what the addon returns on purpose is none', async () => {
  const cwd = temporaryDirectory()
  writeTrace(path.join(cwd, 'trace.json'))
  // As napi passes on a panic, and as each export returns an error.
  const env = (/** @type {string} */ message) =>
    withDefect(
      'lib/addon.js',
      'cpuProfReport',
      `throw Object.assign(new Error('${message}'), { code: 'GenericFailure' })`,
      'module.loadTools()',
    )
  const { line } = await defectOf(['report', 'trace.json'], env('a list is empty'))
  assert.match(line, /^cpu-prof: an internal error: a list is empty; this is a defect/)

  const returned = await cli(['report', 'a.json'], { env: env('cpu-prof: the disk is full') })
  assert.deepEqual([returned.code, returned.stderr], [1, 'cpu-prof: the disk is full\n'])
})

test('a tool of the server names a defect, and the server goes on', async (t) => {
  const project = temporaryDirectory()
  writeTrace(path.join(project, 'profiles', '20260101.000000.7', 'trace.json'))
  const env = { ...withDefect('lib/offline.js', 'compare'), CPU_PROF_DEBUG: '1' }
  const { call, end } = await connect(t, project, [], env)
  const run = '20260101.000000.7'
  const { isError, text } = await call('compare', { base: run, head: run })
  assert.ok(isError)
  assert.match(text, IS_DEFECT)
  assert.doesNotMatch(text, STACK)
  assert.equal((await call('hotspots')).isError, false)
  // Node refuses such a word with a TypeError of its own.
  const refused = await call('record', { command: ['node', 'a\0b'] })
  assert.ok(refused.isError)
  assert.match(refused.text, /^no program can get a word with a null character$/)
  assert.match(await end(), STACK)
})

test('wrong usage has exit code 2 in all commands, and is no defect', async () => {
  for (const [args, told] of /** @type {[string[], string][]} */ ([
    [['compare', 'base', 'head', '--fail-on', 'slow'], "the rule 'slow' is none"],
    [['compare', 'base', 'head', '--from', '5', '--to', '5'], 'from (5) must be less than to (5)'],
    [['report', 'a.json', '--from', '5', '--to', '5'], 'from (5) must be less than to (5)'],
    [['convert', '', '-o', 'a.cpuprofile'], 'inputs must be a path'],
    [['lake', 'top', 'lake', '--since', 'ever'], "'ever' is not a time"],
    [['lake', 'compact'], 'no lake is named'],
    [['lake', 'add', 'a.json', '--to', 'gs://bucket'], 'gs://bucket is no lake'],
    [['run', '--lake', 'gs://bucket', 'node'], 'gs://bucket is no lake'],
  ])) {
    const { code, stderr } = await cli(args)
    assert.equal(code, 2, stderr)
    assert.ok(stderr.includes(told), stderr)
    assert.doesNotMatch(stderr, IS_DEFECT)
  }
})

test('what cannot be read has exit code 1, and is no defect', async () => {
  for (const args of [
    ['report', 'absent.json'],
    ['compare', 'absent', 'absent'],
    ['merge', 'absent', '-o', 'out.json'],
    ['push', 'absent', '--to', 'http://127.0.0.1:9'],
    ['lake', 'add', 'absent', '--to', 'lake'],
  ]) {
    const { code, stderr } = await cli(args)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /absent/)
    assert.doesNotMatch(stderr, IS_DEFECT)
    assert.doesNotMatch(stderr, /^ +at /m)
  }
})

test('the errors of wrong usage keep the classes that the types tell', async () => {
  /** @type {any} */
  const { report } = index
  await assert.rejects(report('a.json', { made: 1 }), TypeError)
  await assert.rejects(report('a.json', { top: -1 }), RangeError)
  await assert.rejects(report('a.json', { from: 5, to: 5 }), RangeError)
})

test('which errors are defects', () => {
  const coded = (/** @type {Error} */ error, /** @type {string} */ code) =>
    Object.assign(error, { code })
  const defects = [
    new TypeError('x'),
    new RangeError('x'),
    new ReferenceError('x'),
    new SyntaxError('x'),
    new assert.AssertionError({ message: 'x' }),
    coded(new Error('x'), 'InvalidArg'),
    'a text',
    undefined,
  ]
  const others = [
    new Error('x'),
    coded(new Error('x'), 'ENOENT'),
    coded(new Error('x'), 'garbled'),
    coded(new Error('x'), 'ERR_STREAM_DESTROYED'),
    new DOMException('x', 'AbortError'),
    new AggregateError([]),
  ]
  assert.deepEqual(defects.filter(isDefect), defects)
  assert.deepEqual(others.filter(isDefect), [])
})
