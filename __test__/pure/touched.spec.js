'use strict'

// What a change of files touches: `npm test -- --changed` runs it, and nothing else.

const assert = require('node:assert/strict')
const test = require('node:test')
const { requiresOf } = require('../../scripts/code/units.js')
const { cratesOf, exportsOf } = require('../../scripts/code/rust.js')
const { touchedTests } = require('../../scripts/code/rust-tests.js')
const { pathOf } = require('../../scripts/specs/files.js')
const { readSources, sourcesOf, touchedBy } = require('../../scripts/specs/touched.js')

const SOURCES = readSources()
const FILES = [...SOURCES.graph.files]
const SHIPPED = /^((bin\/|cli\/|lib\/|packages\/[\w-]+\/(?!__test__))|(index|register)\.js$)/
const COMMANDS = /^cli\/commands\/|^packages\/[\w-]+\/(command\.js|commands\/)/
/** Crates that use each other as ours do. */
const CRATES = [
  { name: 'core', folder: 'src/core', uses: [] },
  { name: 'recorder', folder: 'src/recorder', uses: ['core'] },
  { name: 'tools', folder: 'src/tools', uses: ['core'] },
]

/** @param {string[]} changed @param {Record<string, string[]>} [uses] */
const touched = (changed, uses = {}) => touchedBy(changed, SOURCES, uses, CRATES)

/** Returns the specs that a change of a file touches. @param {string} file */
const specsOf = (file) => touched([file]).specs

/** The files that each script requires, by whole files. @type {Map<string, string[]>} */
const REQUIRES = new Map(
  FILES.filter((file) => file.endsWith('.js')).map((file) => [
    file,
    requiresOf(file, SOURCES.read(file)).map(({ target }) => target),
  ]),
)

/** Returns the files that a script needs, by whole files. @param {string} file @param {(file: string) => boolean} isEntered */
function needed(file, isEntered = () => true) {
  const found = new Set([file])
  for (const each of found) {
    for (const other of REQUIRES.get(each) ?? []) if (isEntered(other)) found.add(other)
  }
  return found
}

/** The commands by the texts that start them, with the files that each needs alone. @type {[string, Set<string>][]} */
const STARTED = [...REQUIRES.keys()]
  .filter((file) => COMMANDS.test(file))
  .flatMap((file) =>
    [...SOURCES.read(file).matchAll(/\.command\('([\w-]+)/g)].map(
      ([, name]) =>
        /** @type {[string, Set<string>]} */ ([
          name,
          needed(file, (other) => other === file || !COMMANDS.test(other)),
        ]),
    ),
  )

test('each file that ships touches a spec that requires it, or starts the command that does', () => {
  const specs = [...SOURCES.reached.keys()]
  const scripts = FILES.filter((file) => SHIPPED.test(file) && file.endsWith('.js'))
  assert.ok(scripts.length > 200)
  for (const file of scripts) {
    const selected = specsOf(file)
    const names = STARTED.filter(([, files]) => files.has(file)).map(([name]) => name)
    const isNaming = (/** @type {string} */ spec) =>
      names.some((name) => SOURCES.read(pathOf(spec)).includes(`'${name}'`))
    const isRequiring = (/** @type {string} */ spec) => needed(pathOf(spec)).has(file)
    const isStarting = (/** @type {string} */ spec) =>
      /cli|remote|PACKAGE/.test(SOURCES.read(pathOf(spec)))
    const found = selected.filter(
      (spec) => isRequiring(spec) || (isStarting(spec) && (isNaming(spec) || names.length === 0)),
    )
    assert.ok(found.length > 0, `${file}: ${names.join()}: ${selected.join()}`)
    // A spec that requires the very file is never left out.
    for (const spec of specs) {
      if (REQUIRES.get(pathOf(spec))?.includes(file) && file !== 'index.js') {
        assert.ok(selected.includes(spec), `${file} touches ${spec}`)
      }
    }
  }
})

test('each command touches the specs that start it', () => {
  for (const [name, files] of STARTED) {
    const [file] = files
    const selected = specsOf(file)
    const before = /^packages\/fleet\/commands\/lake\/(?!index)/.test(file) ? "'lake',\\s*" : ''
    for (const spec of SOURCES.reached.keys()) {
      const isCalling = new RegExp(`\\bcli\\(\\[\\s*${before}'${name}'[,\\]]`)
      if (isCalling.test(SOURCES.read(pathOf(spec)))) {
        assert.ok(selected.includes(spec), `${file} touches ${spec}`)
      }
    }
  }
})

test('rooms touch their own specs, and few others', () => {
  for (const [file, own, other] of [
    ['packages/fleet/lake/blame.js', 'fleet/lake-blame.spec.js', 'pure/report.spec.js'],
    ['packages/fleet/lake/sql.js', 'pure/lake-sql.spec.js', 'pure/merge.spec.js'],
    ['packages/fleet/push/push.js', 'recording/push.spec.js', 'pure/report.spec.js'],
    ['cli/system/linux.js', 'pure/system.spec.js', 'pure/report.spec.js'],
    ['cli/page/views/flame.js', 'pure/report-html.spec.js', 'pure/system.spec.js'],
    ['lib/labels/hooks.js', 'recording/labels.spec.js', 'pure/lock-file.spec.js'],
    ['__test__/fixtures/sleeper.js', 'recording/suspension.spec.js', 'pure/report.spec.js'],
    ['__test__/helpers/run.js', 'recording/hostile.spec.js', 'pure/report-paths.spec.js'],
    ['packages/fleet/docs/push.md', 'pure/docs.spec.js', 'pure/merge.spec.js'],
    ['scripts/release.js', 'pure/release.spec.js', 'pure/merge.spec.js'],
  ]) {
    const specs = specsOf(file)
    assert.ok(specs.includes(own), `${file} touches ${own}`)
    assert.ok(!specs.includes(other), `${file} touches ${other}`)
  }
})

test('what cannot be told touches everything, with the reason', () => {
  const all = [...SOURCES.reached.keys()]
  for (const [file, reason] of [
    ['package.json', 'every build depends on package.json'],
    ['.ci/run', 'every build depends on .ci/run'],
    ['Cargo.toml', 'every build depends on Cargo.toml'],
    ['bench/tsc.js', undefined],
  ]) {
    const { everything, specs } = touched([String(file)])
    if (reason !== undefined) assert.deepEqual([everything, specs], [reason, all])
  }
  const files = ['__test__/pure/a.spec.js', 'cli/nobody.js']
  const few = sourcesOf(files, () => "'use strict'\n")
  const { everything, specs } = touchedBy(['cli/nobody.js'], few, {}, CRATES)
  assert.deepEqual(
    [everything, specs],
    ['no spec is known to need cli/nobody.js', ['pure/a.spec.js']],
  )
  // A file that is gone, and the fuzzers, which other checks look at.
  assert.deepEqual(touchedBy(['cli/gone.js', 'fuzz/Cargo.toml'], few, {}, CRATES), {
    specs: [],
    crates: [],
  })
})

test('a spec is touched by itself', () => {
  assert.ok(specsOf('__test__/pure/touched.spec.js').includes('pure/touched.spec.js'))
})

/** A small tree of each way to reach a file. @type {Record<string, string>} */
const TREE = {
  'index.js': "module.exports = require('./lib/api.js')",
  'lib/api.js':
    "function merge() { return require('./tools.js').merge() }\nfunction report() { return require('./tools.js').report() }\nmodule.exports = { merge, report }",
  'lib/tools.js':
    'function merge() { addon.cpuProfMerge() }\nfunction report() { addon.cpuProfReport() }\nmodule.exports = { ...{ merge }, report }',
  'bin/cpu-prof.js': "require('../cli/main.js')",
  'cli/main.js': "for (const { define } of require('./commands/index.js')) define()",
  'cli/commands/index.js': "module.exports = [require('./one.js'), require('./two.js')]",
  'cli/commands/one.js':
    "function define(program) { program.command('one').action(() => require('../one.js').one()) }\nmodule.exports = { define }",
  'cli/commands/two.js':
    "function define(program) { program.command('two <x>').action(() => require('../two.js').two()) }\nmodule.exports = { define }",
  'cli/one.js':
    "const PAGE = path.join(__dirname, 'page')\nfunction one() { read(PAGE) }\nmodule.exports = { one }",
  'cli/two.js':
    "const index = require('../index.js')\nconst two = () => index.report()\nmodule.exports = { two }",
  'cli/page/page.css': '',
  '__test__/helpers/cli.js':
    "const BIN = path.join(PACKAGE, 'bin', 'cpu-prof.js')\nconst other = () => 'two'\nfunction cli(args) { spawn(BIN, args) }\nmodule.exports = { cli, other }",
  '__test__/fixtures/work.js': '',
  '__test__/pure/one.spec.js':
    "const { cli } = require('../helpers/cli.js')\ntest('one, not two', () => cli(['one', 'work.js']))",
  '__test__/pure/two.spec.js':
    "const { cli } = require('../helpers/cli.js')\ntest('two', () => cli(`two x`))",
  '__test__/pure/merge.spec.js':
    "const { merge } = require('../../index.js')\ntest('merge', () => merge())",
  '__test__/recording/work.spec.js': "run(['--require', PACKAGE, 'work.js'])",
}

for (const [file, expected] of /** @type {[string, string[]][]} */ ([
  ['cli/main.js', ['pure/one.spec.js', 'pure/two.spec.js']],
  ['cli/one.js', ['pure/one.spec.js']],
  ['cli/page/page.css', ['pure/one.spec.js']],
  ['cli/two.js', ['pure/two.spec.js']],
  ['lib/tools.js', ['pure/merge.spec.js', 'pure/two.spec.js']],
  ['lib/api.js', ['pure/merge.spec.js', 'pure/two.spec.js', 'recording/work.spec.js']],
  ['index.js', ['pure/merge.spec.js', 'pure/two.spec.js', 'recording/work.spec.js']],
  ['__test__/fixtures/work.js', ['pure/one.spec.js', 'recording/work.spec.js']],
])) {
  test(`in a small tree, ${file} touches ${expected.join(', ')}`, () => {
    const sources = sourcesOf(Object.keys(TREE), (each) => TREE[each])
    assert.deepEqual(touchedBy([file], sources, {}, []).specs, expected)
  })
}

test('Rust touches the specs of the exports that it is behind, and the tests of its crates', () => {
  const uses = {
    'src/core/url.rs': [],
    'src/core/clock.rs': [],
    'src/tools/merge/mod.rs': [],
    'src/tools/merge/merge.rs': ['src/core/url.rs'],
    'src/tools/exports/merge.rs': ['src/tools/merge/merge.rs'],
    'src/tools/exports/report.rs': [],
    'src/recorder/exports/record.rs': ['src/core/clock.rs'],
  }
  /** @type {Record<string, string>} */
  const rust = {
    'src/tools/exports/merge.rs': '#[napi(js_name = "cpuProfMerge", catch_unwind)]',
    'src/tools/exports/report.rs': '#[napi(js_name = "cpuProfReport", catch_unwind)]',
  }
  const sources = sourcesOf(Object.keys(TREE), (each) => TREE[each] ?? rust[each] ?? '')
  const touch = (/** @type {string} */ file) => touchedBy([file], sources, uses, CRATES)
  const ofMerge = ['pure/merge.spec.js']
  for (const file of ['src/core/url.rs', 'src/tools/merge/merge.rs', 'src/tools/merge/mod.rs']) {
    assert.deepEqual(
      touch(file).specs.filter((spec) => spec.startsWith('pure')),
      ofMerge,
      file,
    )
  }
  assert.deepEqual(touch('src/core/clock.rs').specs, ['recording/work.spec.js'])
  assert.deepEqual(touch('src/tools/merge/tests/written.rs').specs, [])
  assert.deepEqual(touch('src/core/url.rs').crates, ['core', 'recorder', 'tools'])
  assert.deepEqual(touch('src/tools/merge/tests/written.rs').crates, ['tools'])
  assert.deepEqual(cratesOf(['cli/main.js'], CRATES), [])
  const inC = {
    'src/tools/exports/push.rs': '#[unsafe(no_mangle)]\npub(crate) unsafe extern "C" fn send(',
    'src/recorder/push.rs': 'find("send")',
  }
  const ofC = {
    'src/tools/exports/push.rs': [],
    'src/recorder/push.rs': [],
    'src/recorder/exports/r.rs': ['src/recorder/push.rs'],
  }
  const read = (/** @type {string} */ each) => inC[/** @type {keyof typeof inC} */ (each)] ?? ''
  assert.deepEqual(exportsOf('src/tools/exports/push.rs', ofC, read), [
    'src/tools/exports/push.rs',
    'src/recorder/exports/r.rs',
  ])
})

test("of a crate's Rust tests, those that use a changed file are touched", () => {
  const uses = {
    'src/core/url.rs': [],
    'src/tools/merge/mod.rs': [],
    'src/tools/merge/merge.rs': ['src/core/url.rs'],
    'src/tools/report.rs': ['src/tools/names.rs'],
    'src/tools/names.rs': [],
  }
  const ofTests = {
    'src/tools/merge/tests/mod.rs': ['src/tools/merge/merge.rs'],
    'src/tools/merge/tests/spans.rs': ['src/tools/merge/tests/mod.rs'],
    'src/tools/report.rs': ['src/tools/report.rs', 'src/tools/helper.rs'],
    'src/tools/helper.rs': ['src/tools/merge/merge.rs'],
    'src/tools/names.rs': ['src/tools/names.rs'],
  }
  const all = ['merge::tests::spans::two', 'report::tests::rows', 'names::tests::cut', 'other::new']
  for (const [file, touched] of /** @type {[string, string[]][]} */ ([
    ['src/core/url.rs', ['merge::tests::spans::two', 'report::tests::rows']],
    ['src/tools/merge/mod.rs', ['merge::tests::spans::two', 'report::tests::rows']],
    ['src/tools/merge/tests/spans.rs', ['merge::tests::spans::two']],
    ['src/tools/helper.rs', ['report::tests::rows']],
    ['src/tools/names.rs', ['report::tests::rows', 'names::tests::cut']],
    ['src/tools/removed.rs', []],
    ['src/tools/lib.rs', all.slice(0, 3)],
    ['src/core/golden/a.json', all.slice(0, 3)],
  ])) {
    const found = touchedTests(all, 'src/tools', [file], { uses, ofTests })
    // What stands in a file that is not known may use anything.
    assert.deepEqual(found, [...touched, 'other::new'], file)
  }
})
