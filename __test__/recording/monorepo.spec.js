'use strict'

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { runTraces, readThreads } = require('../helpers/run-traces.js')
const { cleanEnv, temporaryDirectory } = require('../helpers/run.js')
const { write, nxWorkspace, TYPED_LINT, MODULES } = require('../helpers/workspace.js')

// Real tools under `cpu-prof run`.

const NX = path.join(MODULES, 'nx', 'dist', 'bin', 'nx.js')
const LINT = ['run', process.execPath, NX, 'run-many', '-t', 'lint', '--output-style=static']
/** Fixes the set of processes (no daemon), and makes nx print plain lines. */
const NX_ENV = { NX_TUI: 'false', NX_DAEMON: 'false', CI: undefined }

/** Returns the labels without process ids. @param {Awaited<ReturnType<typeof readThreads>>} threads */
const labels = (threads) => threads.map(({ url }) => url.replace(/ \(pid \d+\)$/, ''))

/** @param {string[]} all @param {string} label */
const count = (all, label) => all.filter((each) => each === label).length

test('nx without its daemon: every task is in the trace and in the report', async () => {
  const cwd = nxWorkspace()
  const { code, stdout, stderr } = await cli(LINT, { cwd, env: NX_ENV })
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /Successfully ran target lint for 2 projects/)
  const threads = await readThreads(runTraces(cwd)[0])
  const found = labels(threads)
  assert.equal(count(found, 'nx: run-many -t lint --output-style=static'), 1, found.join('\n'))
  for (const name of ['api', 'web']) {
    assert.equal(count(found, `npm: run lint · packages/${name}`), 1, found.join('\n'))
    assert.equal(count(found, `eslint: src · packages/${name}`), 1, found.join('\n'))
  }
  for (const { url, functions } of threads) {
    if (url.startsWith('eslint: src')) assert.ok(functions.has('verifyText'), [...functions].join())
  }
  for (const name of ['api', 'web']) {
    assert.match(stderr, new RegExp(`\n {2}eslint src · packages/${name} \\(\\d+\\) +[░▒▓█]`))
  }
  // The work of each project, and the rules that took the time.
  assert.match(stderr, /\nscripts, by the work .*\n(.+\n)+.* lint · packages\/(api|web)\n/)
  const trace = runTraces(cwd)[0]
  const { scripts, owners, packages } = await report(trace)
  const projects = scripts.map(({ name, cwd = '' }) => `${name} ${path.basename(cwd)}`)
  for (const name of ['lint api', 'lint web']) assert.ok(projects.includes(name), projects.join())
  const rules = owners.filter(({ kind }) => kind === 'rule').map(({ name }) => name)
  assert.ok(
    rules.some((name) => name.startsWith('@typescript-eslint/')),
    JSON.stringify(owners),
  )
  assert.ok(packages.some(({ name }) => name === 'typescript'))
  const lines = await cli(['report', trace, '--by', 'script'], { cwd })
  assert.match(
    lines.stdout,
    /\nscripts, by .*\n +total +procs\n(.+\n)*.* lint · packages\/(api|web)\n/,
  )
  assert.match(stderr, /\ntrace: profiles\/\S+\/trace\.json \(.*\)\n/)
})

test('nx with its daemon: every task is in the trace, and a message names the daemon that stays', async (t) => {
  const cwd = nxWorkspace()
  const env = { ...NX_ENV, NX_DAEMON: 'true' }
  t.after(() => {
    spawnSync(process.execPath, [NX, 'daemon', '--stop'], { cwd, env: { ...cleanEnv(), ...env } })
  })
  // The daemon ends when an ignore file appears, as the first run in a workspace leaves one.
  fs.mkdirSync(path.join(cwd, 'profiles'))
  fs.writeFileSync(path.join(cwd, 'profiles', '.gitignore'), '*\n')
  // The daemon watches the workspace, which also contains the trace.
  execFileSync('git', ['init', '--quiet'], { cwd })
  const { code, stdout, stderr } = await cli(LINT, { cwd, env })
  assert.equal(code, 0, stdout + stderr)
  const found = labels(await readThreads(runTraces(cwd)[0]))
  for (const name of ['api', 'web']) {
    assert.equal(count(found, `eslint: src · packages/${name}`), 1, found.join('\n'))
  }
  // The daemon must not start a plugin worker for each change of the recordings.
  const plugins = found.filter((label) => label.startsWith('nx-plugin-worker:'))
  assert.ok(plugins.length > 0 && plugins.length < 10, found.join('\n'))
  assert.match(stderr, /cpu-prof: .* outlives? the command .* still recorded/)
})

test('eslint with rules that need types is recorded', async () => {
  const cwd = temporaryDirectory()
  write(cwd, { 'package.json': { type: 'module' }, ...TYPED_LINT })
  fs.writeFileSync(path.join(cwd, 'src', 'index.ts'), 'Promise.resolve(1)\n')
  fs.symlinkSync(MODULES, path.join(cwd, 'node_modules'))
  const eslint = path.join('node_modules', '.bin', 'eslint')
  const { code, stdout, stderr } = await cli(['run', eslint, 'src'], { cwd })
  // The message comes from a rule that needs types.
  assert.equal(code, 1, stdout + stderr)
  assert.match(stdout, /@typescript-eslint\/no-floating-promises/)
  const [{ url, functions }] = await readThreads(runTraces(cwd)[0])
  assert.match(url, /^eslint: src \(pid \d+\)$/)
  for (const name of ['verifyText', 'createProgram']) {
    assert.ok(functions.has(name), name)
  }
  assert.match(stderr, / typescript\n/)
})

test('npm test of a small package is recorded', async () => {
  const cwd = temporaryDirectory()
  write(cwd, {
    'package.json': { name: 'small', version: '1.0.0', scripts: { test: 'node --test' } },
    'sum.test.js': `
      const { test } = require('node:test')
      test('sums', function sums() {
        const enough = process.cpuUsage().user + 300_000
        let sum = 0
        while (process.cpuUsage().user < enough) for (let i = 0; i < 1e5; i++) sum += Math.sqrt(sum + 1)
      })`,
  })
  const { code, stdout, stderr } = await cli(['run', 'npm', 'test'], { cwd })
  assert.equal(code, 0, stdout + stderr)
  const threads = await readThreads(runTraces(cwd)[0])
  assert.ok(
    threads.some(({ url }) => url.startsWith('npm: test ')),
    labels(threads).join('\n'),
  )
  const test = threads.find(({ functions }) => functions.has('sums'))
  assert.ok(test, labels(threads).join('\n'))
  assert.match(stderr, / sums +sum\.test\.js:3\n/)
})
