'use strict'

// Modules by load time, the code of hot lines, and reports of a limited size.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory } = require('../helpers/run.js')

const SPIN =
  'function spin(ms) { for (const end = performance.now() + ms; performance.now() < end; ); }\n'
const MODULES = {
  'main.js': `require('./heavy.js')\nrequire('./light.js')\n`,
  'light.js': `${SPIN}spin(40)\n`,
  'heavy.js': `${SPIN}spin(60)\nrequire('./inner.js')\nsetTimeout(spin, 1, 300)\n`,
  'inner.js': `${SPIN}spin(120)\n`,
  'main.mjs': `import './first.mjs'\nimport './inner.js'\n${SPIN}spin(60)\n`,
  'first.mjs': `${SPIN}spin(100)\n`,
}

/** Records a program of {@link MODULES}. @param {string} main */
async function record(main) {
  const cwd = temporaryDirectory()
  for (const [name, text] of Object.entries(MODULES)) fs.writeFileSync(path.join(cwd, name), text)
  const { code, stderr, files } = await run([`./${main}`], { cwd })
  assert.equal(code, 0, stderr)
  return { cwd, file: files[0] }
}

/** @param {import('../../index.js').ReportImport[]} imports @returns {import('../../index.js').ReportImport[]} */
const all = (imports) => imports.flatMap((each) => [each, ...all(each.children)])

test('modules have the time of their code, and what they load stands below', async () => {
  const { cwd, file } = await record('main.js')
  const { imports = [], functions } = await report(file, { imports: true })
  const found = (/** @type {string} */ name) => {
    const module_ = all(imports).find((each) => each.file === path.join(cwd, name))
    assert.ok(module_, `${name} is not in ${JSON.stringify(imports)}`)
    return module_
  }
  const heavy = found('heavy.js')
  const names = (/** @type {import('../../index.js').ReportImport[]} */ list) =>
    list.map((each) => path.basename(each.file)).filter((name) => name !== '')
  assert.deepEqual(names(heavy.children), ['inner.js'])
  assert.deepEqual(names(found('main.js').children), ['heavy.js', 'light.js'])
  const inner = found('inner.js')
  // The code of the modules takes 120, 60 and 40 ms, or longer on a busy machine.
  assert.ok(inner.runMs > 60, `${inner.runMs} ms`)
  assert.ok(heavy.runMs > 30, `${heavy.runMs} ms`)
  assert.ok(found('light.js').runMs > 20)
  for (const each of all(imports)) {
    const sum = each.children.reduce((ms, { totalMs }) => ms + totalMs, each.loadMs + each.runMs)
    assert.ok(sum <= each.totalMs + 0.01 && sum > 0.9 * each.totalMs, JSON.stringify(each))
  }
  // The timer ran after all modules were loaded.
  const spin = functions.filter(({ name }) => name === 'spin')
  const spinMs = spin.reduce((ms, { totalMs }) => ms + totalMs, 0)
  const runMs = all(imports).reduce((ms, each) => ms + each.runMs, 0)
  assert.ok(runMs < 0.9 * spinMs, `${runMs} of ${spinMs} ms`)
  assert.equal((await report(file)).imports, undefined)

  const text = await cli(['report', file, '--by', 'import'], { cwd })
  assert.match(
    text.stdout,
    /\n.*%.* {2}main\.js\n.*% .* {4}heavy\.js\n.*%.* {6}inner\.js\n.*%.* {4}light\.js\n/,
  )
  const json = await cli(['report', file, '--by', 'import', '--json'], { cwd })
  const parsed = JSON.parse(json.stdout)
  assert.equal(parsed.imports[0].file, path.join(cwd, 'main.js'))
  assert.equal(parsed.functions, undefined)
  const markdown = await cli(['report', file, '--by', 'import', '--markdown'], { cwd })
  assert.match(markdown.stdout, /^```\nmodules by load time[^`]*```\n$/)
})

test('ES modules stand side by side, as they run', async () => {
  const { cwd, file } = await record('main.mjs')
  const { imports = [] } = await report(file, { imports: true })
  for (const name of ['first.mjs', 'main.mjs', 'inner.js']) {
    const found = imports.find((each) => each.file === path.join(cwd, name))
    assert.ok(Number(found?.runMs) > 30, `${name} in ${JSON.stringify(imports)}`)
  }
})

/** Writes a program, and a profile in which two of its lines are hot. */
function writeProfile() {
  const cwd = temporaryDirectory()
  const program = path.join(cwd, 'program.js')
  const text = [
    '// A program',
    'function hot() {',
    '  step()',
    '  const a = `x```y`',
    '  more()',
    '}',
  ]
  fs.writeFileSync(program, `${text.join('\n')}\n`)
  const frame = {
    functionName: 'hot',
    scriptId: '1',
    url: program,
    lineNumber: 1,
    columnNumber: 12,
  }
  const root = { functionName: '(root)', scriptId: '0', url: '', lineNumber: -1, columnNumber: -1 }
  const nodes = [
    { id: 1, callFrame: root, children: [2] },
    {
      ...{ id: 2, callFrame: frame, hitCount: 10 },
      positionTicks: [
        { line: 3, ticks: 7 },
        { line: 4, ticks: 3 },
      ],
    },
  ]
  const samples = Array(10).fill(2)
  const profile = {
    nodes,
    startTime: 0,
    endTime: 11_000,
    samples,
    timeDeltas: Array(10).fill(1000),
  }
  const file = path.join(cwd, 'a.cpuprofile')
  fs.writeFileSync(file, JSON.stringify(profile))
  return { cwd, file, program }
}

test('the code of hot lines is shown with their times, unless it has changed', async () => {
  const { cwd, file, program } = writeProfile()
  const { stdout } = await cli(['report', file, '--code'], { cwd })
  assert.match(stdout, /\ncode of the hottest lines/)
  assert.match(stdout, /\n {2}hot {2}program\.js:2\n/)
  assert.match(
    stdout,
    /\n +2 {2}function hot\(\) \{\n +7\.0 ms +3 {4}step\(\)\n +3\.0 ms +4 {4}const a/,
  )
  assert.ok(!stdout.includes('A program'))
  const detail = await cli(['report', file, '--code', '--function', 'hot'], { cwd })
  assert.match(detail.stdout, /^hot[\s\S]*\n +7\.0 ms +3 {4}step\(\)\n/)
  // A fence is longer than what is in the code.
  const markdown = await cli(['report', file, '--code', '--markdown'], { cwd })
  assert.match(markdown.stdout, /\n````\ncode of the hottest lines[\s\S]*x```y[\s\S]*\n````\n$/)

  const changes = [
    () => fs.writeFileSync(program, 'another()\n'.repeat(9)),
    () => fs.writeFileSync(program, '\nfunction hot() {}\n'),
    () => fs.rmSync(program),
    () => fs.mkdirSync(program),
  ]
  for (const change of changes) {
    change()
    const { stdout, code } = await cli(['report', file, '--code'], { cwd })
    assert.equal(code, 0)
    assert.match(
      stdout,
      /\nno code: the files of the hottest lines cannot be read, or have changed\n$/,
    )
  }
})

test('a report keeps within its budget', async () => {
  const { cwd, file } = await record('main.js')
  let before = 0
  for (const budget of [300, 800, 2000, 6000]) {
    const { stdout, code } = await cli(['report', file, '--budget', String(budget), '--code'], {
      cwd,
    })
    assert.equal(code, 0)
    assert.ok(stdout.length <= 3 * budget, `${stdout.length} characters for ${budget} tokens`)
    assert.ok(stdout.length >= before)
    assert.match(stdout, /^\*\*[\d.]+ m?s\*\*, 1 process/)
    before = stdout.length
  }
  const { stdout } = await cli(['report', file, '--budget', '6000', '--code'], { cwd })
  for (const heading of ['Heaviest paths', 'Code of the hottest lines', 'Callers and callees']) {
    assert.ok(stdout.includes(`### ${heading}`), heading)
  }
  assert.match(stdout, /for \(const end = performance\.now\(\)/)
  const { details } = await report(file, { details: 2 })
  assert.equal(details?.length, 2)
  const { functions } = await report(file)
  const hottest = functions.slice(0, 2).map(({ name }) => name)
  assert.deepEqual(
    details?.map(({ name }) => name),
    hottest,
  )

  for (const args of [
    ['--budget', '0'],
    ['--budget', 'many'],
    ['--budget', '100', '--json'],
    ['--budget', '100', '--by', 'function'],
    ['--html', 'x.html', '--budget', '100'],
  ]) {
    assert.equal((await cli(['report', file, ...args], { cwd })).code, 2, args.join(' '))
  }
  for (const options of [{ details: -1 }, { details: 101 }, { details: '1' }, { imports: 1 }]) {
    await assert.rejects(report(file, /** @type {any} */ (options)), /^TypeError: cpu-prof: /)
  }
})
