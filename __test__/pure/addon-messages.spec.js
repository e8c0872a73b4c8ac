'use strict'

// What users read where an addon cannot be used: why, and what mends it.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { fileName, packageName } = require('../../scripts/targets.js')
const { cleanEnv, temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { NAME, TARGET, VERSION, projectWith } = require('../helpers/packages.js')

const [OS, CPU, LIBC] = TARGET.split('-')
const OTHER_OS = OS === 'darwin' ? 'win32-x64' : 'darwin-arm64'
const OTHER_CPU = [OS, CPU === 'x64' ? 'arm64' : 'x64', LIBC].filter(Boolean).join('-')
const OTHER_LIBC = [OS, CPU, LIBC === 'gnu' ? 'musl' : 'gnu'].join('-')
const MISSING = `the package ${packageName(TARGET)} is not installed: `
const NPM = `; run: npm install --include=optional ${NAME}@${VERSION}`

/** Runs Node in a project, as a user without a package manager around. @param {string} project @param {string[]} args */
function node(project, ...args) {
  const env = { ...cleanEnv(), npm_config_user_agent: undefined }
  const options = { cwd: project, env, encoding: /** @type {const} */ ('utf8') }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options)
  return { status, stdout, stderr }
}

/** Preloads the package, and returns why the program runs unprofiled. @param {string} project @param {string[]} [flags] */
function reasonIn(project, flags = []) {
  const { status, stdout, stderr } = node(
    project,
    ...flags,
    '--require',
    NAME,
    '-e',
    'console.log("as ever"); process.exitCode = 5',
  )
  assert.deepEqual([status, stdout], [5, 'as ever\n'], stderr)
  const [, reason] = pattern`^${messages.notProfiling}(.*)\n$`.exec(stderr) ?? []
  assert.ok(reason, stderr)
  return reason
}

/** Returns the path of this machine's recorder in a project. @param {string} project */
const recorderIn = (project) =>
  path.join(project, 'node_modules', packageName(TARGET), fileName('cpu-prof', TARGET))

test('without a package for this system, the message has a cause and the command that mends it', () => {
  const nothing = projectWith([])
  const omitted = `${messages.optionalLeftOut} (--omit=optional, --no-optional, --ignore-optional)`
  assert.equal(reasonIn(nothing), MISSING + omitted + NPM)
  // The lock file was written where this system's package is not, or names all.
  const lock = path.join(nothing, 'package-lock.json')
  const asks = { optionalDependencies: { [packageName(TARGET)]: VERSION } }
  const packages = { [`node_modules/${NAME}`]: asks }
  fs.writeFileSync(lock, JSON.stringify({ packages }))
  assert.match(
    reasonIn(nothing),
    /: package-lock\.json does not name it \(npm leaves .*\); run: npm/,
  )
  const whole = { ...packages, [`node_modules/${packageName(TARGET)}`]: {} }
  fs.writeFileSync(lock, JSON.stringify({ packages: whole }))
  assert.equal(reasonIn(nothing), MISSING + omitted + NPM)
})

for (const [what, other, cause] of [
  ['system', OTHER_OS, /so node_modules was installed on another system, and copied .*container/],
  [
    'processor',
    OTHER_CPU,
    /so a Node for \w+ installed node_modules, and this Node is for \w+; run/,
  ],
  ...(LIBC
    ? [/** @type {const} */ (['libc', OTHER_LIBC, /runs on (glibc|musl).*another Linux/])]
    : []),
]) {
  test(`the package of another ${what} is named`, () => {
    const reason = reasonIn(projectWith([String(other)]))
    assert.ok(
      reason.startsWith(`${MISSING}${packageName(String(other))} is there instead, `),
      reason,
    )
    assert.match(reason, /** @type {RegExp} */ (cause))
    assert.ok(reason.endsWith(NPM), reason)
  })
}

test('a damaged file, one for another system and another version have a message', () => {
  const project = projectWith([TARGET])
  const recorder = recorderIn(project)
  const other = fs.readFileSync(recorder)
  const mend = `remove ${path.dirname(recorder)}, and run: npm install `
  for (const text of ['', 'no library', other.subarray(0, 64)]) {
    fs.rmSync(recorder)
    fs.writeFileSync(recorder, text)
    const reason = reasonIn(project)
    assert.match(reason, /^the system refuses an addon \(.+\): the file is damaged, or for another/)
    assert.ok(reason.includes(mend), reason)
  }
  // An addon of another package, which tells no version.
  fs.writeFileSync(recorder, fs.readFileSync(require.resolve(foreignAddon())))
  assert.equal(
    reasonIn(project),
    `${NAME} is ${VERSION}, but ${packageName(TARGET)} is older: an update did not replace both${NPM}`,
  )
})

/** Returns the path of another project's addon for this Node. */
function foreignAddon() {
  const libc = LIBC === 'musl' ? 'musl.' : ''
  const folder = path.dirname(require.resolve('@datadog/pprof/package.json'))
  const file = `dd_pprof.${libc}node.abi${process.versions.modules}.node`
  return path.join(folder, 'prebuilds', `${OS}-${CPU}`, file)
}

test('a Node that may load no addons has a message', () => {
  const reason = reasonIn(projectWith([TARGET]), ['--no-addons'])
  assert.match(reason, pattern`^${messages.loadsNoAddons}: start it with --allow-addons, or`)
})

test('a system without a package is told which have one', () => {
  const project = projectWith([])
  const file = path.join(project, 'freebsd.js')
  fs.writeFileSync(file, `Object.defineProperty(process, 'platform', { value: 'freebsd' })`)
  assert.match(
    reasonIn(project, ['--require', file]),
    /^there are no addons for freebsd-\w+, but for linux-x64-gnu, .*win32-arm64: use a Node for one/,
  )
})

test("what the system's loader says decides the cause", () => {
  const project = projectWith([])
  const lib = path.join(project, 'node_modules', NAME, 'lib')
  const { explain } = require(path.join(lib, 'addon/missing.js'))
  const { OWN } = require(path.join(lib, 'search-addon.js'))
  const say = (/** @type {string} */ message) =>
    explain('cpu-prof', TARGET, OWN, { code: 'ERR_DLOPEN_FAILED', message })
  const glibc = "/lib/libc.so.6: version `GLIBC_2.34' not found (required by /a/b.node)"
  assert.match(
    say(glibc),
    /refuses an addon \(.*GLIBC_2\.34.*\): the file was built for a newer glibc/,
  )
  assert.match(say('/a/b.node: failed to map segment from shared object'), /is mounted noexec/)
  assert.match(say("dlopen(/a/b.node): code signature in 'b' not valid"), /own signature/)
  assert.match(
    say('dlopen(/a/b.node): library load denied by system policy'),
    /run xattr -d com\.apple\.quarantine on the file$/,
  )
  assert.match(say('b.node: cannot open shared object file: Permission denied'), /may not read/)
  assert.match(
    say('Error relocating b.node: gnu_get_libc_version: symbol not found'),
    /damaged, or/,
  )
  assert.match(say("tried: 'b' (incompatible architecture (have 'x86_64'))"), /damaged, or for/)
  // Nothing of a loader's words reaches the terminal but text, and not without end.
  assert.match(say('a\u001b[31m\r\nb'), /\(a \[31m b\)/)
  assert.ok(say('x'.repeat(10_000)).length < 1000)
  assert.equal(explain('cpu-prof', TARGET, new TypeError('of a patched program')), undefined)
  assert.equal(explain('cpu-prof', TARGET, undefined), undefined)
})

test('the command is that of the package manager in use', () => {
  const project = projectWith([])
  const { commandOf, findProject } = require(
    path.join(project, 'node_modules', NAME, 'lib/addon/package-manager.js'),
  )
  const folder = path.join(project, 'node_modules', NAME)
  const agent = process.env.npm_config_user_agent
  const command = () => {
    const { manager } = findProject(folder)
    return commandOf(manager, { name: NAME, version: '1.2.3' })
  }
  const withFile = (/** @type {string} */ file, text = '') => {
    fs.writeFileSync(path.join(project, file), text)
    const found = command()
    fs.rmSync(path.join(project, file))
    return found
  }
  try {
    Reflect.deleteProperty(process.env, 'npm_config_user_agent')
    assert.equal(command(), `npm install --include=optional ${NAME}@1.2.3`)
    assert.equal(withFile('pnpm-lock.yaml'), 'pnpm install --force')
    assert.equal(withFile('yarn.lock', '# yarn lockfile v1\n'), 'yarn install --force')
    assert.equal(withFile('yarn.lock', '__metadata:\n  version: 8\n'), 'yarn install')
    assert.equal(withFile('bun.lock', '{}'), 'bun install --force')
    assert.equal(withFile('bun.lockb', '\0'), 'bun install --force')
    process.env.npm_config_user_agent = 'pnpm/10.34.8 npm/? node/v20.0.0 linux x64'
    assert.equal(command(), 'pnpm install --force')
    // A lock file is closer to the truth: npx runs in projects of all managers.
    assert.equal(withFile('bun.lock', '{}'), 'bun install --force')
    fs.writeFileSync(path.join(project, 'package-lock.json'), '{}')
    assert.equal(withFile('pnpm-lock.yaml'), 'pnpm install --force')
    process.env.npm_config_user_agent = 'constructor/1'
    fs.rmSync(path.join(project, 'package-lock.json'))
    assert.match(command(), /^npm install/)

    // The forms in which lock files have an entry, and in which others ask for the package.
    for (const [file, entry, ask] of [
      ['pnpm-lock.yaml', "  'a@1.0.0':\n", '      a: 1.0.0\n'],
      ['yarn.lock', '"a@1.0.0":\n', '    a "1.0.0"\n'],
      ['yarn.lock', '__metadata:\n"a@npm:1.0.0":\n', '__metadata:\n    "a": "npm:1.0.0"\n'],
      ['bun.lock', '"a": ["a@1.0.0"]', '{ "a": "1.0.0" }'],
      ['package-lock.json', '"node_modules/a": {}', '{ "a": "1.0.0" }'],
    ]) {
      fs.writeFileSync(path.join(project, file), entry)
      assert.deepEqual([findProject(folder).lockFile, findProject(folder).locks('a')], [file, true])
      fs.writeFileSync(path.join(project, file), ask)
      assert.equal(findProject(folder).locks('a'), false, file)
      fs.rmSync(path.join(project, file))
    }
  } finally {
    if (agent === undefined) Reflect.deleteProperty(process.env, 'npm_config_user_agent')
    else process.env.npm_config_user_agent = agent
  }
})

test('a clone is told to build', () => {
  const { explain, explainVersion } = require('../../lib/addon/missing.js')
  const { OWN } = require('../../lib/search-addon.js')
  const missing = explain('cpu-prof', TARGET, OWN, { code: 'MODULE_NOT_FOUND' })
  assert.equal(
    missing,
    `the addon ${fileName('cpu-prof', TARGET)} ${messages.notBuilt} (needs Rust)`,
  )
  const refused = explain('cpu-prof', TARGET, OWN, {
    code: 'ERR_DLOPEN_FAILED',
    message: 'too short',
  })
  assert.match(String(refused), /build it again: npm run build$/)
  const version = 'this is version 2.0.0, and the addon is 1.0.0: npm run build'
  assert.equal(explainVersion(TARGET, '2.0.0', OWN, '1.0.0'), version)
})

for (const words of [
  ['report'],
  ['report', 'a.json'],
  ['merge', 'a.json', '-o', 'b.json'],
  ['check', 'a.json'],
  ['convert', 'a.json', '-o', 'b.collapsed'],
  ['compare', 'a', 'b'],
  ['compare', '--runs', '2', '--', 'touch started', 'touch started'],
  ['run', 'touch', 'started'],
  ['run', '--interval', '500', 'touch', 'started'],
]) {
  test(`cpu-prof ${words.join(' ')} says that the package is missing, and does nothing`, () => {
    const project = projectWith([])
    const { status, stdout, stderr } = node(
      project,
      `node_modules/${NAME}/bin/cpu-prof.js`,
      ...words,
    )
    assert.equal(stderr.split(MISSING).length, 2, stderr)
    assert.match(stderr, /^cpu-prof: the package .*\n$/)
    assert.equal(stdout, '')
    assert.equal(status, 1)
    assert.deepEqual(fs.readdirSync(project), ['node_modules'])
  })
}

test('code is told by start(), and everything else goes on', () => {
  const project = projectWith([])
  const code = `
    const { start, span, emit, isRecording, report } = require('${NAME}')
    console.log(isRecording(), span('a', () => 'as ever'))
    emit({ name: 'a', ph: 'i' })
    try { start() } catch (error) { console.log(error.message) }
    report('a').catch((error) => console.log(error.message))`
  const expected = `cpu-prof: ${MISSING}`
  for (const preload of [[], ['--require', NAME]]) {
    const { status, stdout } = node(project, ...preload, '-e', code)
    const [first, start, report] = stdout.split('\n')
    assert.equal(first, 'false as ever')
    assert.ok(start.startsWith(expected), stdout)
    assert.ok(report.startsWith(expected), stdout)
    assert.equal(status, 0)
  }
})

test('workers say nothing that the main thread has said', () => {
  const project = projectWith([])
  const code = `for (let i = 0; i < 3; i++) new (require('node:worker_threads').Worker)('0', { eval: true })`
  const { stderr } = node(project, '--require', NAME, '-e', code)
  assert.equal(stderr.split('\n').length, 2, stderr)
})

test('a package without its manifest runs a program unprofiled', () => {
  const project = projectWith([])
  const copy = path.join(temporaryDirectory(), 'copy')
  fs.cpSync(path.join(project, 'node_modules', NAME), copy, { recursive: true })
  fs.rmSync(path.join(copy, 'package.json'))
  const { status, stderr } = node(project, '--require', path.join(copy, 'index.js'), '-e', '0')
  assert.equal(status, 0)
  assert.match(stderr, pattern`^${messages.notProfiling}.*\n$`)
})

test('in a bundle, the message says that the package must be left out', () => {
  const project = projectWith([])
  const [main, bundle] = ['main.js', 'dist/main.js'].map((name) => path.join(project, name))
  fs.writeFileSync(main, `try { require('${NAME}').start() } catch (e) { console.log(e.message) }`)
  const { buildSync } = require('esbuild')
  const options = { bundle: true, platform: /** @type {const} */ ('node') }
  buildSync({ ...options, entryPoints: [main], outfile: bundle, logLevel: 'error' })
  const { status, stdout } = node(project, bundle)
  assert.equal(status, 0)
  assert.match(stdout, /^cpu-prof: the addon cpu-prof\.\S+\.node is not beside this code, which a/)
  assert.match(stdout, /leave @org\/cpu-prof out of the bundle \(external\), and install it where/)
})
