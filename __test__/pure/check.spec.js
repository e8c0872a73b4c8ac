'use strict'

// What `cpu-prof check` says of files of this and of other tools.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { check, merge } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { run, temporaryDirectory } = require('../helpers/run.js')

const FOREIGN = path.join(FIXTURES, 'foreign')

test('recordings, their merged trace and Node’s own profiles have no problem', async () => {
  const workers = await run(['workers.js', 'natural'], {
    env: { CPU_PROF_FORMAT: 'trace,cpuprofile' },
  })
  const merged = path.join(workers.cwd, 'merged.json.gz')
  await merge(
    workers.traces.map(({ file }) => file),
    merged,
  )
  const builtIn = await run(
    ['--cpu-prof', '--cpu-prof-name=own.cpuprofile', 'workers.js', 'natural'],
    {
      preload: null,
    },
  )
  const inputs = [workers.cwd, merged, path.join(builtIn.cwd, 'own.cpuprofile')]
  const { files, failed } = await check(inputs)
  assert.deepEqual(failed, [])
  assert.ok(files.length >= 5, `${files.length} files`)
  for (const { file, problems, samples, loads } of files) {
    assert.deepEqual(
      problems.filter(({ severity }) => severity !== 'warning'),
      [],
      file,
    )
    assert.ok(loads)
    assert.ok(samples > 0, file)
  }
  assert.deepEqual(new Set(files.map(({ kind }) => kind)), new Set(['trace', 'cpuprofile']))
})

test('files of other tools can be loaded', async () => {
  const { files } = await check(FOREIGN)
  assert.ok(files.length >= 15, `${files.length} files`)
  for (const { file, problems, loads } of files)
    assert.ok(loads, `${file} ${JSON.stringify(problems)}`)
})

test('the command lists problems by line and field, and fails for a file that cannot be loaded', async () => {
  const cwd = temporaryDirectory()
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    fs.writeFileSync(path.join(cwd, name), text)
  const good = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
  const wrong = '{"ph":"Q","name":"a","pid":1,"tid":1,"ts":1}'
  write('good.json', `[${good}]`)
  write('odd.json', `{"traceEvents":[\n${good},\n${Array(9).fill(wrong).join(',\n')}\n]}`)
  write('cut.json', `{"traceEvents":[\n${good},\n{"ph":`)

  const clean = await cli(['check', 'good.json'], { cwd })
  assert.deepEqual([clean.code, clean.stderr], [0, ''])
  assert.equal(
    clean.stdout,
    'good.json: a trace of 1 event, 0 profiles and 0 samples: no problem\n',
  )
  const odd = await cli(['check', 'odd.json'], { cwd })
  assert.equal(odd.code, 0)
  assert.match(odd.stdout, /^odd\.json: a trace of 10 events, .*: 9 errors\n/)
  assert.match(odd.stdout, /\n {2}error {2}line 3 {2}ph {2}'Q' is not a phase\n/)
  assert.match(odd.stdout, /line 7 {2}ph {2}'Q' is not a phase \(and 4 more\)\n$/)
  const cut = await cli(['check', 'good.json', 'cut.json'], { cwd })
  assert.equal(cut.code, 1)
  assert.match(
    cut.stdout,
    /\ncut\.json: cannot be loaded\n {2}fatal {2}line 3 {2}the file is cut off/,
  )
  const missing = await cli(['check', 'missing.json'], { cwd })
  assert.equal(missing.code, 1)
  assert.match(missing.stdout, /^missing\.json: /)
  const json = await cli(['check', '-', '--json'], { cwd, input: `[${wrong}]` })
  assert.equal(JSON.parse(json.stdout).files[0].problems[0].field, 'ph')
  const empty = await cli(['check', fs.mkdtempSync(path.join(cwd, 'empty-'))], { cwd })
  assert.equal(empty.code, 1)
  assert.match(empty.stderr, /no trace to check/)
  await assert.rejects(check(/** @type {any} */ ([])), /^TypeError: cpu-prof: inputs/)
})
