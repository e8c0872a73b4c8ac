'use strict'

// Programs that are not started as `node file.js` from a folder with node_modules: other runtimes, single
// executables, bundles, Plug'n'Play, serverless functions. docs/hosts.md tells what was tried by hand.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { withPreload } = require('../../cli/run/prepare/plan.js')
const { targetName } = require('../../lib/addon.js')
const { binOf, isFetched } = require('../../scripts/package-managers.js')
const { ADDONS, fileName } = require('../../scripts/targets.js')
const { messages, pattern } = require('../helpers/messages.js')
const { NEEDS_NEIGHBOUR } = require('../helpers/neighbour.js')
const { run, cleanEnv, temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/run.js')
const { assertSeen } = require('../helpers/work.js')
const { write } = require('../helpers/workspace.js')

const [MAJOR, MINOR] = process.versions.node.split('.').map(Number)
const ADDON = fileName('cpu-prof', targetName())
const SPIN = `
  function spin(ms) { for (const end = Date.now() + ms; Date.now() < end; ); }
  spin(300)
  console.log('done')`

/** Writes files into a new folder. @param {Record<string, string | object>} files */
function folder(files) {
  const dir = temporaryDirectory()
  write(dir, files)
  return dir
}

/** Puts the JavaScript of the package and its addon where npm installs them. @param {string} dir */
function install(dir) {
  const target = path.join(dir, 'node_modules', '@org', 'cpu-prof')
  for (const part of ['index.js', 'register.js', 'package.json', 'lib', 'bin', 'cli']) {
    fs.cpSync(path.join(PACKAGE, part), path.join(target, part), { recursive: true })
  }
  for (const { name } of ADDONS.filter(({ folder }) => folder === '.')) {
    const file = fileName(name, targetName())
    fs.copyFileSync(path.join(PACKAGE, file), path.join(target, file))
  }
  return target
}

for (const runtime of ['bun', 'deno']) {
  const name = runtime === 'bun' ? 'Bun' : 'Deno'
  const refused = `${name} does not let an addon profile; run the program with Node.js`

  test(`a runtime that says it is ${name}: one line, and the program runs unprofiled`, async () => {
    const dir = folder({
      'runtime.js': `Object.defineProperty(process, 'versions',
        { value: { ...process.versions, ${runtime}: '1.0.0' } })`,
      'main.js': SPIN,
      'code.js': `try { require(${JSON.stringify(PACKAGE)}).start() } catch (error) {
        console.log(error.message) }`,
    })
    const preload = ['--require', path.join(dir, 'runtime.js')]
    const main = path.join(dir, 'main.js')
    const preloaded = await run([main], { preload: [...preload, '--require', PACKAGE] })
    assert.equal(preloaded.stderr, `${messages.notProfiling}${refused}\n`)
    assert.equal(preloaded.stdout, 'done\n')
    assert.equal(preloaded.code, 0)
    assert.deepEqual(preloaded.files, [])
    const inCode = await run([path.join(dir, 'code.js')], { preload })
    assert.equal(inCode.stdout, `cpu-prof: ${refused}\n`)
    assert.deepEqual(inCode.files, [])
  })

  const fetched = runtime === 'bun' && isFetched('bun') && path.join(binOf('bun'), 'bun')
  const binary = process.env[runtime.toUpperCase()] ?? (fetched || runtime)
  const skip = spawnSync(binary, ['--version']).status !== 0 && `there is no ${runtime}`
  test(`${name} itself: one line, and the program runs unprofiled`, { skip }, () => {
    const dir = folder({ 'main.js': SPIN, 'package.json': { type: 'commonjs' } })
    const allowed = runtime === 'deno' ? ['run', '-A'] : []
    const args = [...allowed, '--preload', path.join(install(dir), 'register.js'), 'main.js']
    const ended = spawnSync(binary, args, { cwd: dir, env: cleanEnv(), encoding: 'utf8' })
    assert.equal(ended.stderr, `${messages.notProfiling}${refused}\n`)
    assert.equal(ended.stdout, 'done\n')
    assert.equal(ended.status, 0)
    assert.deepEqual(tracesIn(dir), [])
  })
}

test("run under Yarn's Plug'n'Play: its preload comes first, since the addon is found by it", async () => {
  const dir = folder({ 'main.js': SPIN })
  const { version } = require('../../package.json')
  const target = path.join(dir, '.yarn', 'unplugged', `cpu-prof-${version}`)
  fs.mkdirSync(path.dirname(target), { recursive: true })
  fs.renameSync(install(dir), target)
  fs.rmSync(path.join(dir, 'node_modules'), { recursive: true })
  for (const name of fs.readdirSync(target).filter((file) => file.endsWith('.node'))) {
    fs.renameSync(path.join(target, name), path.join(dir, name))
  }
  // Finds all packages, which are in no node_modules.
  const pnp = path.join(dir, '.pnp.cjs')
  write(dir, {
    '.pnp.cjs': `
      const { Module } = require('node:module')
      const { _resolveFilename: resolve } = Module
      Module._resolveFilename = function (request, ...rest) {
        const [, addon] = /^@org\\/cpu-prof-[^/]+\\/(.+)$/.exec(request) ?? []
        if (addon !== undefined) return require('node:path').join(__dirname, addon)
        if (/^(commander|meaw)$/.test(request)) request = ${JSON.stringify(
          path.join(PACKAGE, 'node_modules'),
        )} + '/' + request
        return resolve.call(this, request, ...rest)
      }`,
  })
  const NODE_OPTIONS = `--require ${pnp} --no-warnings`
  const bin = path.join(target, 'bin', 'cpu-prof.js')
  const ended = spawnSync(process.execPath, [bin, 'run', 'node', 'main.js'], {
    cwd: dir,
    env: { ...cleanEnv(), NODE_OPTIONS },
    encoding: 'utf8',
  })
  assert.equal(ended.status, 0, ended.stderr)
  assert.equal(ended.stdout, 'done\n')
  assert.match(ended.stderr, /\ntrace: \S+ \(.* 1 process, /)

  assert.equal(
    withPreload(NODE_OPTIONS, '/p'),
    `--require ${pnp} --require /p --no-warnings`,
    'other options stay behind',
  )
  assert.equal(
    withPreload('-r "/a b/.pnp.cjs"', '/p'),
    '-r "/a b/.pnp.cjs" --require /p',
    'a folder with a space',
  )
  assert.equal(withPreload('--require /a.js', '/p'), '--require /p --require /a.js')
})

const CAN_BUILD_SEA = MAJOR > 25 || (MAJOR === 25 && MINOR >= 5)
const noSea = !CAN_BUILD_SEA && 'this Node has no --build-sea'

test('a single executable: preloaded, and from code beside the file', { skip: noSea }, async () => {
  const dir = folder({
    'main.js': `
      const { createRequire } = require('node:module')
      if (process.argv[2] === 'code') createRequire(process.execPath)('@org/cpu-prof').start()
      ${SPIN}`,
    'sea.json': { main: 'main.js', output: 'program', disableExperimentalSEAWarning: true },
  })
  const built = spawnSync(process.execPath, ['--build-sea', 'sea.json'], { cwd: dir })
  assert.equal(built.status, 0, String(built.stderr))
  const target = install(dir)
  const program = path.join(dir, 'program')
  fs.chmodSync(program, 0o755)

  /** @param {string[]} args @param {Record<string, string>} env */
  const start = async (args, env) => {
    const { traces, stdout, stderr } = await run([program, ...args], {
      under: ['sh', '-c', 'shift; exec "$@"', 'sh'],
      preload: null,
      env,
    })
    assert.equal(stderr, '')
    assert.equal(stdout, 'done\n')
    assert.equal(traces.length, 1)
    assertSeen(traces[0], 'spin')
  }
  await start([], { NODE_OPTIONS: `--require ${target}` })
  await start(['code'], {})
})

test('a bundle with the package in it, and the addon beside the bundle', async () => {
  const dir = folder({ 'main.js': `require('@org/cpu-prof').start()\n${SPIN}` })
  install(dir)
  const out = temporaryDirectory()
  require('esbuild').buildSync({
    entryPoints: [path.join(dir, 'main.js')],
    bundle: true,
    platform: 'node',
    outfile: path.join(out, 'bundle', 'main.js'),
    logLevel: 'silent',
  })
  fs.copyFileSync(path.join(PACKAGE, ADDON), path.join(out, ADDON))
  const { traces, stderr } = await run([path.join(out, 'bundle', 'main.js')], { preload: null })
  assert.equal(stderr, '')
  assertSeen(traces[0], 'spin')
})

test('a serverless function: another folder in NODE_OPTIONS, no HOME, and only /tmp is written', {
  skip: NEEDS_NEIGHBOUR,
}, async () => {
  const layer = folder({ 'task/main.js': SPIN })
  const target = install(layer)
  fs.chmodSync(layer, 0o755)
  const written = temporaryDirectory()
  fs.chmodSync(written, 0o777)
  /** @param {string[]} settings */
  const invoke = (settings) =>
    spawnSync(
      'setpriv',
      ['--reuid=65534', '--regid=65534', '--clear-groups', 'env', '-i', ...settings].concat(
        `NODE_OPTIONS=--require=${target}`,
        process.execPath,
        'main.js',
      ),
      { cwd: path.join(layer, 'task'), encoding: 'utf8' },
    )
  const unset = invoke([])
  assert.equal(unset.stdout, 'done\n', unset.stderr)
  assert.equal(unset.status, 0)
  assert.match(
    unset.stderr,
    pattern`^cpu-prof: ${messages.notCreated} .*\(set CPU_PROF_DIR to a writable directory\); ${messages.runsOn}\n$`,
  )
  const set = invoke([`CPU_PROF_DIR=${written}/new`])
  assert.equal(set.stderr, '')
  assert.equal(set.stdout, 'done\n')
  assert.equal(tracesIn(path.join(written, 'new')).length, 1)
})
