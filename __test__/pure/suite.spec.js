'use strict'

// The suite itself: which specs run, and how failures are judged.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  arrange,
  listSpecs,
  pathOf,
  selectSpecs,
  ALONE,
  ANY_SOURCE,
  FOLDERS,
  KINDS,
  LONGEST,
} = require('../../scripts/specs/files.js')
const { judge, MOST_UNSTABLE, REPEATS } = require('../../scripts/specs/judge.js')
const { describe } = require('../../scripts/specs/monitor.js')
const { SEEDS } = require('../../scripts/nightly.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')

/** Helpers that record, or read what was just recorded. */
const OF_RECORDINGS = ['run', 'source', 'unharmed', 'work', 'endings', 'mount', 'parity']

const never = () => assert.fail('nothing is repeated')

/** @param {string} file @param {string} [source] */
const failure = (file, source) => ({ file, node: '/node', version: 'v20.0.0', source })

test('a pure spec records nothing', () => {
  for (const file of listSpecs(['pure'])) {
    const text = fs.readFileSync(path.join(PACKAGE, pathOf(file)), 'utf8')
    for (const helper of OF_RECORDINGS) {
      const isUsed = text.includes(`/helpers/${helper}.js')`)
      assert.ok(!isUsed, `${file} requires helpers/${helper}.js`)
    }
    assert.doesNotMatch(text, /cli\(\[\s*'run', (?!'--help)/, file)
  }
})

test('every spec stands in the folder of its kind', () => {
  const files = FOLDERS.flatMap((folder) =>
    fs.readdirSync(path.join(PACKAGE, folder), { recursive: true }).map(String),
  )
  const specs = files.filter((file) => file.endsWith('.spec.js'))
  assert.deepEqual(specs.sort(), listSpecs().sort())
  // `kind/name.spec.js` means one file.
  assert.equal(new Set(specs).size, specs.length)
})

test('the lists of special specs name existing files', () => {
  for (const start of [...Object.keys(ALONE), ...ANY_SOURCE, ...LONGEST]) {
    assert.ok(selectSpecs({ names: [start] }).length > 0, `no spec begins with ${start}`)
  }
})

test('specs are selected by kind, by the start of a name, and by source', () => {
  assert.ok(selectSpecs({ kinds: ['stress'] }).every((file) => file.startsWith('stress/')))
  assert.deepEqual(selectSpecs({ names: ['pure/suite.spec.js'] }), ['pure/suite.spec.js'])
  const [first, ...others] = selectSpecs({ names: ['suit'] })
  assert.deepEqual([first, others], ['pure/suite.spec.js', []])
  assert.ok(!selectSpecs({ without: ['suite'] }).includes('pure/suite.spec.js'))
  const ofInspector = selectSpecs({ source: 'inspector' })
  assert.ok(ofInspector.includes('recording/api.spec.js'))
  assert.ok(!ofInspector.some((file) => /^(pure|stress)\/|\/cli/.test(file)))
})

test('pure specs run first, and those that load the machine one by one at the end', () => {
  const groups = arrange(listSpecs())
  assert.equal(groups.flatMap(({ files }) => files).length, listSpecs().length)
  const kinds = groups.map(({ files }) => new Set(files.map((file) => path.dirname(file))))
  assert.deepEqual([...kinds[0]], ['pure'])
  assert.deepEqual([...kinds[1]].sort(), ['fleet', 'recording'])
  const alone = Object.keys(ALONE).map(() => 'recording')
  assert.deepEqual([...kinds[2]].sort(), [...new Set(['lake', ...alone, 'stress'])])
  assert.deepEqual(
    groups.map(({ isAlone }) => isAlone),
    [false, false, true],
  )
})

test('a file that passes three times more is unstable, any other is broken', () => {
  let runs = 0
  const passing = judge([failure('a'), failure('b', 'inspector')], () => {
    runs++
    return true
  })
  assert.equal(runs, 2 * REPEATS)
  assert.deepEqual(passing, {
    unstable: ['a on Node v20.0.0', 'b on Node v20.0.0, source inspector'],
    broken: [],
    isTooMany: false,
  })
  for (let fails = 1; fails <= REPEATS; fails++) {
    let run = 0
    const { unstable, broken } = judge([failure('a')], () => ++run !== fails)
    assert.deepEqual([unstable, broken, run], [[], ['a on Node v20.0.0'], fails])
  }
  assert.deepEqual(judge([], never), { unstable: [], broken: [], isTooMany: false })
})

test('more than three unstable files are a failure', () => {
  const many = Array.from({ length: MOST_UNSTABLE + 1 }, (_, i) => failure(`${i}`))
  assert.equal(judge(many, never).isTooMany, true)
  assert.equal(judge(many.slice(1), () => true).isTooMany, false)
  // One file on several Nodes is one file.
  assert.equal(judge(Array(9).fill(failure('a')), () => true).isTooMany, false)
})

test('a failing spec fails its run, or is noted for the end of the whole run', () => {
  const copy = temporaryDirectory()
  fs.cpSync(path.join(PACKAGE, 'scripts'), path.join(copy, 'scripts'), { recursive: true })
  for (const kind of KINDS) fs.mkdirSync(path.join(copy, '__test__', kind), { recursive: true })
  fs.mkdirSync(path.join(copy, 'packages'))
  const write = (/** @type {string} */ file, /** @type {string} */ code) =>
    fs.writeFileSync(path.join(copy, '__test__', file), `const fs = require('node:fs')\n${code}`)
  write('pure/good.spec.js', `require('node:test')('good', () => {})`)
  write('recording/bad.spec.js', `require('node:test')('bad', () => { throw new Error('always') })`)
  write('stress/ends.spec.js', `process.exit(3)`)
  const shaky = path.join(copy, 'shaky')
  write(
    'recording/shaky.spec.js',
    `require('node:test')('shaky', () => {
       if (fs.existsSync(${JSON.stringify(shaky)})) return
       fs.writeFileSync(${JSON.stringify(shaky)}, '')
       throw new Error('once')
     })`,
  )
  /** @param {string} script @param {string[]} args @param {string} [later] */
  const run = (script, args, later) => {
    const env = { ...cleanEnv(), SPEC_FAILURES: later }
    const file = path.join(copy, 'scripts', script)
    const { status, stdout } = spawnSync(process.execPath, [file, ...args], {
      env,
      encoding: 'utf8',
    })
    return { status, stdout }
  }
  const good = run('specs.js', ['--kind=pure'])
  assert.equal(good.status, 0, good.stdout)
  assert.match(good.stdout, /\nmachine: /)
  const bad = run('specs.js', ['bad'])
  assert.equal(bad.status, 1)
  assert.match(bad.stdout, /\nfailed: recording\/bad\.spec\.js: bad \(.*load/)
  assert.equal(run('specs.js', ['ends']).status, 1)
  assert.equal(run('specs.js', ['absent']).status, 1)

  const later = path.join(copy, 'later')
  assert.equal(run('specs.js', ['--kind=recording', 'shaky'], later).status, 0)
  const unstable = run('repeat.js', [], later)
  assert.equal(unstable.status, 0, unstable.stdout)
  assert.match(unstable.stdout, /\nunstable: recording\/shaky\.spec\.js on Node v[\d.]+\n$/)
  assert.equal(run('specs.js', ['bad', 'ends'], later).status, 0)
  const broken = run('repeat.js', [], later)
  assert.equal(broken.status, 1)
  assert.match(
    broken.stdout,
    /\nfailed: recording\/bad\.spec\.js on .*\nfailed: stress\/ends\.spec/,
  )
})

test('the machine is described for the time of a failure', () => {
  const readings = [
    { ms: 2000, core: 0, stillMs: 3 },
    { ms: 2000, core: 1, stillMs: 412 },
    { ms: 9000, core: 0, stillMs: 700 },
  ]
  const loads = [
    { ms: 2000, load: 2.5 },
    { ms: 9000, load: 7 },
  ]
  assert.equal(
    describe(readings, loads, { fromMs: 1500, toMs: 1800, startMs: 0 }),
    'core 1 stood still for 412 ms at most (second 2), load 2.5 at most',
  )
  assert.equal(describe([], loads, { fromMs: 0, toMs: 10_000, startMs: 0 }), 'load 7.0 at most')
})

test('each fuzzer has its target in Cargo.toml, and seeds', () => {
  const fuzz = path.join(PACKAGE, 'fuzz')
  const names = fs.readdirSync(path.join(fuzz, 'fuzz_targets')).map((file) => path.parse(file).name)
  const manifest = fs.readFileSync(path.join(fuzz, 'Cargo.toml'), 'utf8')
  const targets = [...manifest.matchAll(/^\[\[bin\]\]\nname = "(\w+)"$/gm)].map(([, name]) => name)
  assert.deepEqual(targets.sort(), names.sort())
  assert.deepEqual(Object.keys(SEEDS).sort(), names)
})
