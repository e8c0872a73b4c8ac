'use strict'

// Modules by load time, the code of hot lines, and reports of a limited size.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const zlib = require('node:zlib')
const { report } = require('../../index.js')
const { readRecording } = require('../../cli/page/data/recording.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeProfile, writeTrace } = require('../helpers/written.js')

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

/** Node's functions that load a file as CommonJS; the last calls the code. @param {string} last its name */
const load = (last) =>
  [
    'Module._load node:internal/modules/cjs/loader:1003:24',
    'Module.load node:internal/modules/cjs/loader:1257:33',
    'Module._extensions..js node:internal/modules/cjs/loader:1604:37',
    `${last} node:internal/modules/cjs/loader:1483:37`,
  ].join(' > ')
const ENTRY =
  '(anonymous) node:internal/main/run_main_module:1 > executeUserEntryPoint node:internal/modules/run_main:155:31'
const REQUIRE =
  'require node:internal/modules/helpers:180:31 > Module.require node:internal/modules/cjs/loader:1281:36'
const READ = 'loadSource node:internal/modules/cjs/loader:1536:20 > readFileSync node:fs:441:22'
const WRAP = 'wrapSafe node:internal/modules/cjs/loader:1422:18'
const TIMER =
  'processTimers node:internal/timers:504:25 > listOnTimeout node:internal/timers:524:25'

/** Returns the spans of `main.js`. @param {string} compile name of Node's function that calls the code of a module */
function ofCommonJs(compile = 'Module._compile') {
  const main = `${ENTRY} > ${load(compile)} > (anonymous) main.js:1`
  const required = `${REQUIRE} > ${load(compile)}`
  const heavy = `${main} > ${required} > (anonymous) heavy.js:1`
  const inner = `${heavy} > ${required} > (anonymous) inner.js:1`
  const light = `${main} > ${required} > (anonymous) light.js:1`
  return /** @type {import('../helpers/written.js').Span[]} */ ([
    [ENTRY, 3],
    [main, 2],
    [`${main} > ${required} > ${READ}`, 4],
    [`${heavy} > spin heavy.js:1:14@1`, 60],
    [`${heavy} > ${required} > ${WRAP}`, 5],
    [`${inner} > spin inner.js:1:14@1`, 120],
    [heavy, 1],
    [`${main} > ${required} > ${READ}`, 6],
    [`${light} > spin light.js:1:14@1`, 40],
    // Nothing of what is loaded here was sampled.
    [`${main} > ${required} > ${READ}`, 2],
    ['(idle)', 1],
    [`${TIMER} > spin heavy.js:1:14@1`, 300],
  ])
}

/** The spans of `main.mjs`: its modules run one after the other. @type {import('../helpers/written.js').Span[]} */
const OF_ES_MODULES = [
  [
    'import node:internal/modules/esm/loader:604:15 > resolve node:internal/modules/esm/loader:635:10',
    4,
  ],
  [
    '#translate node:internal/modules/esm/loader:489:13 > moduleStrategy node:internal/modules/esm/translators:141:50',
    6,
  ],
  ...['first.mjs', 'inner.js', 'main.mjs'].flatMap((file) => ofEsModule(file)),
]

/** @param {string} file @returns {import('../helpers/written.js').Span[]} */
function ofEsModule(file) {
  const run = 'run node:internal/modules/esm/module_job:318:12 > evaluate'
  const spin = (/** @type {string} */ stack, line = 1) =>
    `${stack} > (anonymous) ${file}:1 > spin ${file}:${line}:14@${line}`
  if (file === 'first.mjs') return [[spin(run), 100]]
  if (file === 'main.mjs') return [[spin(run, 3), 60]]
  const translator =
    '(anonymous) node:internal/modules/esm/translators:236:67 > cjsLoader node:internal/modules/esm/translators:296:38'
  const loaded = `${run} > ${translator} > ${load('Module._compile')}`
  return [
    [`${loaded} > ${WRAP}`, 7],
    [spin(loaded), 120],
  ]
}

/**
 * Writes the modules, and a recording of one of them.
 * @param {string} main @param {import('../helpers/written.js').Span[]} spans
 */
function writeProgram(main, spans) {
  const cwd = temporaryDirectory()
  for (const [name, text] of Object.entries(MODULES)) fs.writeFileSync(path.join(cwd, name), text)
  const file = writeTrace(path.join(cwd, 'a.trace.json'), { cwd, label: main, spans })
  return { cwd, file }
}

/**
 * Returns the expected entry of a module.
 * @param {string} file @param {number[]} times of loading, of running, and of both with the children
 * @param {import('../../index.js').ReportImport[]} [children]
 */
function module_(file, [loadMs, runMs, totalMs], children = []) {
  return { file, package: file === '' ? '' : '(own code)', loadMs, runMs, totalMs, children }
}

// Node 26 has no name for the function that calls the code of a module.
for (const compile of ['Module._compile', '(anonymous)']) {
  test(`modules have the time of their code, and what they load stands below: ${compile}`, async () => {
    const { cwd, file } = writeProgram('main.js', ofCommonJs(compile))
    const { imports } = await report(file, { imports: true })
    const inner = module_(path.join(cwd, 'inner.js'), [5, 120, 125])
    // The timer ran after all modules were loaded.
    const heavy = module_(path.join(cwd, 'heavy.js'), [4, 61, 190], [inner])
    const light = module_(path.join(cwd, 'light.js'), [6, 40, 46])
    const main = module_(path.join(cwd, 'main.js'), [5, 2, 243], [heavy, light])
    assert.deepEqual(imports, [main])
    assert.equal((await report(file)).imports, undefined)
  })
}

test('report --by import shows the modules as text, Markdown and JSON', async () => {
  const { cwd, file } = writeProgram('main.js', ofCommonJs())
  const args = ['report', file, '--by', 'import']
  const [text, markdown, json] = await Promise.all([
    cli(args, { cwd }),
    cli([...args, '--markdown'], { cwd }),
    cli([...args, '--json'], { cwd }),
  ])
  const expected = `
modules by load time, with what they load (% of 243 ms)
     total            load      run
    243 ms 100.0%   5.0 ms   2.0 ms  main.js
    190 ms  78.2%   4.0 ms    61 ms    heavy.js
    125 ms  51.4%   5.0 ms   120 ms      inner.js
     46 ms  18.9%   6.0 ms    40 ms    light.js
`.trimStart()
  assert.deepEqual([text.stdout, text.stderr], [expected, ''])
  assert.deepEqual([markdown.stdout, markdown.stderr], [`\`\`\`\n${expected}\`\`\`\n`, ''])
  const { imports, functions } = JSON.parse(json.stdout)
  assert.deepEqual(imports, (await report(file, { imports: true })).imports)
  assert.equal(functions, undefined)
})

test('ES modules stand side by side, as they run', async () => {
  const { cwd, file } = writeProgram('main.mjs', OF_ES_MODULES)
  const { imports } = await report(file, { imports: true })
  assert.deepEqual(imports, [
    module_(path.join(cwd, 'inner.js'), [7, 120, 127]),
    module_(path.join(cwd, 'first.mjs'), [0, 100, 100]),
    module_(path.join(cwd, 'main.mjs'), [0, 60, 60]),
    // The loader compiles all modules before any of them runs.
    module_('', [10, 0, 10]),
  ])
})

/** Writes a program, and a profile in which two of its lines are hot. */
function writeHotLines() {
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
  const hot = `hot ${program}:2:13`
  const file = path.join(cwd, 'a.cpuprofile')
  writeProfile(file, [
    [`${hot}@3`, 7],
    [`${hot}@4`, 3],
  ])
  return { cwd, file, program }
}

test('the code of hot lines is shown with their times, unless it has changed', async () => {
  const { cwd, file, program } = writeHotLines()
  const args = ['report', file, '--code']
  const [{ stdout }, detail, markdown] = await Promise.all([
    cli(args, { cwd }),
    cli([...args, '--function', 'hot'], { cwd }),
    cli([...args, '--markdown'], { cwd }),
  ])
  const code = `
code of the hottest lines, with their self time
  hot  program.js:2
            2  function hot() {
    7.0 ms  3    step()
    3.0 ms  4    const a = \`x\`\`\`y\`
            5    more()
`
  assert.ok(stdout.endsWith(code), stdout)
  assert.match(detail.stdout, /^hot /)
  assert.ok(detail.stdout.endsWith(code), detail.stdout)
  // A fence is longer than what is in the code.
  assert.ok(markdown.stdout.endsWith(`\n\`\`\`\`${code}\`\`\`\`\n`), markdown.stdout)

  const changed = 'functions are not where they were recorded: the file has changed, or is another'
  const unreadable = 'no file that can be read, or too large'
  /** @type {[change: () => void, reason: string][]} */
  const changes = [
    [() => fs.writeFileSync(program, 'another()\n'.repeat(9)), changed],
    [() => fs.writeFileSync(program, '\nfunction hot() {}\n'), changed],
    [() => fs.writeFileSync(program, ''), unreadable],
    [() => fs.rmSync(program), unreadable],
    [() => fs.mkdirSync(program), unreadable],
  ]
  for (const [change, reason] of changes) {
    change()
    const { stdout, code } = await cli(args, { cwd })
    assert.equal(code, 0)
    assert.ok(stdout.endsWith(`\n${messages.notShown}: program.js (${reason})\n`), stdout)
  }
})

test('the code of a project is shown in all of it, and no other file that a recording names', async () => {
  const root = temporaryDirectory()
  const cwd = path.join(root, 'packages', 'a')
  const outside = temporaryDirectory()
  const code = 'function hot() {\n  SHOWN()\n}\n'
  const secret = 'SECRET=1\nSECRET=2\n'
  const files = {
    '.git/config': secret,
    'packages/a/index.js': code,
    'packages/a/node_modules/dep/index.js': code,
    'packages/b/lib.mjs': code,
    'packages/a/cli': `#!/usr/bin/env node\n${code}`,
    '.env': secret,
    'secret.json': secret,
    key: secret,
    'other.js': secret,
  }
  /** @param {string} folder @param {Record<string, string>} texts */
  const write = (folder, texts) => {
    for (const [name, text] of Object.entries(texts)) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      fs.writeFileSync(path.join(folder, name), text)
    }
  }
  write(root, files)
  write(outside, { 'hidden.js': 'function hot() {\n  SECRET()\n}\n', shadow: secret })
  fs.symlinkSync(path.join(outside, 'hidden.js'), path.join(root, 'link.js'))
  const shown = [
    'packages/a/index.js',
    'packages/a/node_modules/dep/index.js',
    'packages/b/lib.mjs',
  ]
  const others = ['.git/config', '.env', 'secret.json', 'key', 'other.js', 'link.js']
  const hidden = [...others.map((name) => path.join(root, name))]
  hidden.push(path.join(outside, 'hidden.js'), path.join(outside, 'shadow'), '/proc/version')
  const spans = /** @type {import('../helpers/written.js').Span[]} */ ([
    ...shown.map((name) => [`hot ${path.join(root, name)}:1:13@2`, 5]),
    [`hot ${path.join(cwd, 'cli')}:2:13@3`, 4],
    ...hidden.flatMap((file) => [
      [[{ name: '<x>', file, line: 1, column: 1, at: 1 }], 3],
      [[{ name: 'hot', file, line: 1, column: 13, at: 2 }], 2],
    ]),
  ])
  // The recording says that it comes from there.
  const file = writeTrace(path.join(root, 'a.trace.json'), { cwd: outside, spans })
  const most = ['--top', '99']
  const forms = [
    most,
    [...most, '--markdown'],
    [...most, '--function', 'hot'],
    ['--budget', '30000'],
  ]
  const [text, ...more] = await Promise.all(
    forms.map((form) => cli(['report', file, '--code', ...form], { cwd })),
  )
  for (const { stdout } of [text, ...more]) {
    assert.ok(!stdout.includes('SECRET'), stdout)
    assert.match(stdout, /SHOWN/)
  }
  assert.equal(text.stdout.match(/SHOWN/g)?.length, 4)
  const reasons = text.stdout.split('\n').filter((line) => line.startsWith(messages.notShown))
  assert.equal(reasons.length, 3, text.stdout)
  for (const [index, pattern] of [
    /hidden\.js.*\(outside of \/.*; to see it, run .* in the project of the recording\)$/,
    /\.\.\/\.\.\/\.git\/config, .* and 1 more \(not the ending of code\)$/,
    /\.\.\/\.\.\/other\.js \(functions are not where they were recorded: /,
  ].entries()) {
    assert.ok(
      reasons.some((reason) => pattern.test(reason)),
      `${index}: ${reasons.join('\n')}`,
    )
  }
})

test('a report keeps within its budget', async () => {
  const { cwd, file } = writeProgram('main.js', ofCommonJs())
  const budgets = [300, 800, 2000, 6000]
  const reports = await Promise.all(
    budgets.map((budget) => cli(['report', file, '--budget', `${budget}`, '--code'], { cwd })),
  )
  for (const [index, { stdout, stderr, code }] of reports.entries()) {
    assert.deepEqual([code, stderr], [0, ''])
    const budget = budgets[index]
    assert.ok(stdout.length <= 3 * budget, `${stdout.length} characters for ${budget} tokens`)
    assert.ok(stdout.length >= (reports[index - 1]?.stdout.length ?? 0))
    assert.match(stdout, pattern`^66 .* ${messages.ofWork} spin .*\n\n\*\*544 ms\*\*, 1 process`)
  }
  const { stdout } = reports[3]
  for (const heading of ['Heaviest paths', 'Code of the hottest lines', 'Callers and callees']) {
    assert.ok(stdout.includes(`### ${heading}`), heading)
  }
  assert.match(stdout, /for \(const end = performance\.now\(\)/)
})

test('callers and callees of the hottest functions are part of a report', async () => {
  const { file } = writeProgram('main.js', ofCommonJs())
  const { details, functions } = await report(file, { details: 2 })
  const placesOf = (/** @type {import('../../index.js').ReportPlace[]} */ list = []) =>
    list.map((each) => `${each.name} ${path.basename(each.file)}`)
  assert.deepEqual(placesOf(details), ['spin heavy.js', 'spin inner.js'])
  assert.deepEqual(placesOf(functions.slice(0, 2)), placesOf(details))
  for (const options of [{ details: -1 }, { details: 101 }, { details: '1' }, { imports: 1 }]) {
    await assert.rejects(report(file, /** @type {any} */ (options)), /^TypeError: cpu-prof: /)
  }
})

test('an invalid budget, and one beside another form of report, are wrong usage', async () => {
  const { cwd, file } = writeHotLines()
  const wrong = [
    ['--budget', '0'],
    ['--budget', 'many'],
    ['--budget', '100', '--json'],
    ['--budget', '100', '--by', 'function'],
    ['--html', 'x.html', '--budget', '100'],
  ]
  await Promise.all(
    wrong.map(async (args) => {
      const { code } = await cli(['report', file, ...args], { cwd })
      assert.equal(code, 2, args.join(' '))
    }),
  )
})

test('a page has the code of hot lines only where that was asked for', async () => {
  const { cwd, file } = writeHotLines()
  /** @param {string[]} args */
  const dataOf = async (args) => {
    const { stdout, code, stderr } = await cli(['report', file, '--html', '-', ...args], { cwd })
    assert.equal(code, 0, stderr)
    const [, packed] = /id="data">([^<]+)</.exec(stdout) ?? []
    return JSON.parse(zlib.gunzipSync(Buffer.from(packed, 'base64')).toString())
  }
  const [without, page] = [await dataOf([]), await dataOf(['--code'])]
  assert.equal(without.code, undefined)
  const { code } = readRecording(page)
  const [shown] = [...code.keys()]
  const text = fs.readFileSync(shown, 'utf8').split('\n')
  const lines = code.get(shown) ?? new Map()
  assert.ok(lines.size > 0)
  for (const [number, line] of lines) assert.equal(line, text[number - 1])
})
