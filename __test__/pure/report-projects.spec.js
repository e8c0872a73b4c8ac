'use strict'

// The work of projects: of packages, and of what TypeScript's compiler builds in one process.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeTrace } = require('../helpers/written.js')
const { START, compiled } = require('../helpers/written-events.js')

const TSC = '/t/node_modules/typescript/lib/_tsc.js'
const CHECK = `checkSourceFileWorker ${TSC}:9 > checkVariableDeclaration ${TSC}:10`

/** Writes the recordings of a repository: a build of two projects, and a linter in one of them. */
function writeRepository() {
  const cwd = temporaryDirectory()
  const folder = (/** @type {string} */ name) => path.join(cwd, 'packages', name)
  for (const name of ['a', 'b']) {
    fs.mkdirSync(path.join(folder(name), 'src'), { recursive: true })
    fs.writeFileSync(path.join(folder(name), 'package.json'), '{}')
  }
  const a = { project: path.join(folder('a'), 'tsconfig.json') }
  const b = { project: path.join(folder('b'), 'tsconfig.json') }
  const builder = {
    cwd,
    start: START,
    pid: 7,
    label: 'tsc',
    argv: ['-b'],
    spans: [
      [`main ${TSC}:1`, 10],
      [`createProgram ${TSC}:2 > createSourceFile ${TSC}:3`, 30],
      [CHECK, 50],
      [`${CHECK} > checkCallExpression ${TSC}:11`, 40],
      ['(idle)', 20],
      [`${CHECK} > checkCallExpression ${TSC}:11`, 200],
      [`emitFiles ${TSC}:20`, 10],
    ],
    events: [
      compiled(10, 10, a),
      compiled(40, 90, { ...a, file: path.join(folder('a'), 'one.ts') }),
      compiled(90, 130, { ...a, file: path.join(folder('a'), 'two.ts') }),
      compiled(150, 150, b),
      compiled(150, 350, { ...b, file: path.join(folder('b'), 'three.ts') }),
    ],
  }
  const linter = {
    cwd: path.join(folder('a'), 'src'),
    start: START,
    pid: 8,
    label: 'lint.js',
    spans: [['lint lint.js:1', 70]],
  }
  const files = [builder, linter].map((thread, index) =>
    writeTrace(path.join(cwd, `${index}.trace.json`), /** @type {any} */ (thread)),
  )
  return { cwd, files, folder }
}

test('the work of projects is told by phase, construct and file, also from a merged trace', async () => {
  const { cwd, files, folder } = writeRepository()
  const merged = path.join(cwd, 'merged.json')
  await merge(files, merged)
  for (const inputs of [files, [merged]]) {
    const { projects = [] } = await report(inputs, { projects: true })
    assert.deepEqual(
      projects.map((project) => [project.path, project.totalMs, project.processes]),
      [
        [folder('b'), 210, 1],
        [folder('a'), 190, 2],
        [cwd, 10, 1],
      ],
    )
    const [b, a] = projects
    const parts = (/** @type {import('../../index.js').ReportPart[]} */ list) =>
      list.map(({ name, totalMs }) => `${name} ${totalMs}`)
    assert.deepEqual(parts(a.phases), ['check 90', 'parse 30'])
    assert.deepEqual(parts(a.constructs), ['variables 50', 'calls 40'])
    assert.deepEqual(parts(b.phases), ['check 200', 'emit 10'])
    assert.deepEqual(
      a.files.map(({ file, totalMs, constructs }) => [file, totalMs, ...parts(constructs)]),
      [
        [path.join(folder('a'), 'one.ts'), 50, 'variables 50'],
        [path.join(folder('a'), 'two.ts'), 40, 'calls 40'],
      ],
    )
    // The linter's CPU time is known, the share of the builder's is not.
    assert.equal(b.cpuMs, undefined)
  }
})

test('a report without the option has no projects', async () => {
  const { files } = writeRepository()
  assert.equal((await report(files)).projects, undefined)
})

test('--by project prints projects, what was checked, and files', async () => {
  const { cwd, files } = writeRepository()
  const names = files.map((file) => path.basename(file))
  const { stdout, stderr, code } = await cli(['report', ...names, '--by', 'project'], { cwd })
  assert.equal(code, 0, stderr)
  assert.match(
    stdout,
    /\nprojects, by the work of their processes \(% of 410 ms of work\)\n +total +cpu\n +210 ms .* packages\/b +1 process\n +190 ms .* packages\/a +2 processes\n +10 ms .* \. +1 process\n/,
  )
  assert.match(
    stdout,
    /\nTypeScript, by phase and construct .*\n +total *\n +240 ms .* check: calls\n +50 ms .* check: variables\n +30 ms .* parse\n/,
  )
  assert.match(
    stdout,
    /\nTypeScript, by checked file .*\n +total *\n +200 ms .* packages\/b\/three\.ts +calls · packages\/b\n/,
  )
  const markdown = await cli(['report', ...names, '--by', 'projects', '--markdown'], { cwd })
  assert.match(markdown.stdout, /\n\| `packages\/b` \| `1 process` \| 210 ms \|/)
  const json = JSON.parse(
    (await cli(['report', ...names, '--by', 'project', '--json'], { cwd })).stdout,
  )
  assert.equal(json.projects.length, 3)
  assert.equal(json.functions, undefined)
})

test('without the category, the table says how to get files', async () => {
  const cwd = temporaryDirectory()
  const spans = /** @type {any} */ ([[CHECK, 10]])
  writeTrace(path.join(cwd, 'a.trace.json'), { cwd, label: 'tsc', spans })
  const { stdout } = await cli(['report', 'a.trace.json', '--by', 'project'], { cwd })
  assert.match(stdout, /\nTypeScript, by phase and construct \(by file: category typescript\)/)
  assert.doesNotMatch(stdout, /by checked file/)
})

test('--by takes plurals, and guesses what was meant', async () => {
  const { cwd, files } = writeRepository()
  const plural = await cli(['report', files[1], '--by', 'functions'], { cwd })
  assert.equal(plural.code, 0, plural.stderr)
  assert.match(plural.stdout, pattern`\n${messages.functionsBySelf}`)
  const mistyped = await cli(['report', files[1], '--by', 'functoin'], { cwd })
  assert.equal(mistyped.code, 2)
  assert.match(mistyped.stderr, /Allowed choices are function, .*thread\. Did you mean function\?/)
  const unknown = await cli(['report', files[1], '--by', 'x'], { cwd })
  assert.doesNotMatch(unknown.stderr, /Did you mean/)
})
