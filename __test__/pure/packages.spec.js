'use strict'

// The other packages, as the main one finds them: their commands, what is said without them, and what loads them.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { OTHERS } = require('../../scripts/npm/manifests.js')
const { packagesOf } = require('../../scripts/targets.js')
const { cleanEnv, temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')
const { NAME, TARGET, VERSION, projectWith, stagedPackage } = require('../helpers/packages.js')

const FLEET = `${NAME}-fleet`
const MCP = `${NAME}-mcp`
const NAMES = OTHERS.map(({ manifest }) => manifest.name)

/** Runs the command line of a project. @param {string} project @param {string[]} args @param {Record<string, string>} [env] @param {string} [cwd] */
function run(project, args, env = {}, cwd = project) {
  const bin = path.join(project, 'node_modules', NAME, 'bin', 'cpu-prof.js')
  const usual = Object.entries(cleanEnv()).filter(([name]) => !/^npm_/i.test(name))
  return spawnSync(process.execPath, [bin, ...args], {
    cwd,
    env: { ...Object.fromEntries(usual), ...env },
    encoding: 'utf8',
    input: '',
  })
}

/** Puts a made-up package into a project. @param {string} project @param {string} name @param {string} hook @param {string} [version] */
function addPackage(project, name, hook, version = VERSION) {
  const folder = path.join(project, 'node_modules', name)
  fs.mkdirSync(folder, { recursive: true })
  const manifest = {
    name,
    version,
    exports: { './hook': './hook.js', './package.json': './package.json' },
  }
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  fs.writeFileSync(path.join(folder, 'hook.js'), hook)
}

/** A package whose commands say what they are, and that notes when it is loaded. */
const MADE = `
  require('node:fs').appendFileSync('loaded', 'x')
  const command = (name) => ({
    define: (program) => program.command(name).summary('made').action(() => console.log('ran ' + name)),
  })
  module.exports = {
    commands: { lake: command('lake'), push: command('push') },
    lakeOf: (given) => given ?? process.env.CPU_PROF_LAKE,
    afterRun: async (recordings, { lake }) => console.error('added ' + recordings.length + ' to ' + lake),
    pushLibrary: () => '/made.node',
  }`

test('without its package, a command says in one line what to install', () => {
  for (const [lockFile, command] of [
    [undefined, 'npm install --save-dev'],
    ['pnpm-lock.yaml', 'pnpm add --save-dev'],
    ['yarn.lock', 'yarn add --dev'],
    ['bun.lock', 'bun add --dev'],
  ]) {
    const project = projectWith([TARGET])
    if (lockFile !== undefined) fs.writeFileSync(path.join(project, lockFile), '')
    for (const [name, words] of /** @type {[string, string[]][]} */ ([
      [FLEET, ['lake', 'top', 'lake']],
      [FLEET, ['lake', '--help']],
      [FLEET, ['push', 'profiles', '--to', 'http://localhost:4040']],
      [FLEET, ['run', '--lake', 'lake', 'node', '-v']],
      [MCP, ['mcp', '--root', '.']],
    ])) {
      const { status, stdout, stderr } = run(project, words)
      assert.deepEqual([status, stdout], [2, ''], words.join(' '))
      const said = `the package ${name} is not installed; run: ${command} ${name}@${VERSION}`
      assert.equal(stderr, `cpu-prof: ${said}\n`)
    }
    const { status, stdout } = run(project, ['--help'])
    assert.equal(status, 0)
    for (const name of NAMES)
      assert.match(stdout.replace(/\s+/g, ' '), new RegExp(`needs the package ${name}`))
  }
})

test('a lake of the environment does not stop a run without its package', () => {
  const project = projectWith([TARGET])
  const { status, stdout, stderr } = run(project, ['run', 'echo', 'ran'], { CPU_PROF_LAKE: 'lake' })
  assert.deepEqual([status, stdout], [0, 'ran\n'])
  assert.match(
    stderr,
    /^cpu-prof: the lake of the environment gets no run: the package \S+-fleet is not installed; run: npm .*\n/,
  )
})

test('a package of another version is not used', () => {
  const project = projectWith([TARGET])
  addPackage(project, FLEET, MADE, '9.9.9')
  const { status, stderr } = run(project, ['lake'])
  const remedy = `run: npm install --save-dev ${FLEET}@${VERSION}`
  assert.equal(status, 2)
  assert.equal(
    stderr,
    `cpu-prof: the package ${FLEET} is 9.9.9, and ${NAME} is ${VERSION}; ${remedy}\n`,
  )
  assert.ok(!fs.existsSync(path.join(project, 'loaded')))
})

test('a package that cannot be loaded is named', () => {
  const project = projectWith([TARGET])
  addPackage(project, FLEET, "throw new Error('broken\\nin two lines')")
  const { status, stderr } = run(project, ['lake'])
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^cpu-prof: the package \S+-fleet cannot be loaded \(Error: broken\); run: .*\n$/,
  )
})

test('a package is loaded by its own commands and the help alone', () => {
  const project = projectWith([TARGET])
  addPackage(project, FLEET, MADE)
  const loaded = path.join(project, 'loaded')
  const isLoadedBy = (/** @type {string[]} */ ...words) => {
    fs.rmSync(loaded, { force: true })
    const { stdout } = run(project, words)
    return [fs.existsSync(loaded), stdout]
  }
  assert.deepEqual(isLoadedBy('lake'), [true, 'ran lake\n'])
  assert.deepEqual(isLoadedBy('push'), [true, 'ran push\n'])
  const [isLoaded, help] = isLoadedBy('--help')
  assert.ok(isLoaded)
  assert.match(
    String(help),
    /\n {2}status .*\n(.*\n)?(.*\n)?.* lake +made\n {2}push +made\n {2}mcp /,
  )
  for (const words of [
    ['--version'],
    ['report', '--help'],
    ['nothing'],
    ['run', 'echo'],
    ['mcp'],
  ]) {
    assert.equal(isLoadedBy(...words)[0], false, words.join(' '))
  }
})

test('a package is found beside this one, and then from the working directory', () => {
  const [elsewhere, project] = [projectWith([TARGET]), temporaryDirectory()]
  addPackage(project, FLEET, MADE)
  assert.equal(run(elsewhere, ['lake'], {}, project).stdout, 'ran lake\n')
  addPackage(elsewhere, FLEET, MADE.replace("'ran '", "'ran own '"))
  assert.equal(run(elsewhere, ['lake'], {}, project).stdout, 'ran own lake\n')
  // One of another version does not hide the right one.
  addPackage(elsewhere, FLEET, MADE, '9.9.9')
  assert.equal(run(elsewhere, ['lake'], {}, project).stdout, 'ran lake\n')
})

test('the recorder gets the library that sends profiles, or what to install', () => {
  const project = projectWith([])
  const file = JSON.stringify(path.join(project, 'node_modules', NAME, 'lib', 'preload', 'push.js'))
  const code = `require(${file}).givePushLibrary({ cpuProfPushLibrary: (...args) => console.log(JSON.stringify(args)) })
    require(${file}).givePushLibrary({})`
  const given = () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], {
      cwd: project,
      env: cleanEnv(),
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    return JSON.parse(stdout)
  }
  const [none, why] = given()
  assert.equal(none, null)
  assert.match(why, /^the package \S+-fleet is not installed; run: /)
  addPackage(project, FLEET, MADE)
  assert.deepEqual(given(), ['/made.node', ''])
})

test('what is published serves the commands of all packages', () => {
  const project = projectWith([TARGET])
  const own = path.join(__dirname, '..', '..', 'node_modules')
  for (const { name } of packagesOf(TARGET)) {
    fs.cpSync(stagedPackage(name), path.join(project, 'node_modules', name), { recursive: true })
  }
  for (const { manifest } of OTHERS) {
    const folder = path.join(project, 'node_modules', manifest.name)
    fs.cpSync(stagedPackage(manifest.name), folder, { recursive: true })
    for (const name of Object.keys(manifest.dependencies).filter((name) => name !== NAME)) {
      const link = path.join(project, 'node_modules', name)
      fs.mkdirSync(path.dirname(link), { recursive: true })
      fs.symlinkSync(path.join(own, name), link)
    }
  }
  // Without a client, the server ends at once.
  const { status, stdout, stderr } = run(project, ['mcp'])
  assert.deepEqual([status, stdout, stderr], [0, '', ''])
  writeTrace(path.join(project, 'trace.json'), { spans: [['work app.js:1', 5]] })
  const added = run(project, ['lake', 'add', 'trace.json', '--to', 'lake', '--repo', 'org/app'])
  assert.equal(added.status, 0, added.stderr)
  const asked = run(project, ['lake', 'sql', 'lake', 'SELECT 1 AS one', '--csv'])
  assert.deepEqual([asked.status, asked.stdout], [0, 'one\n1\n'], asked.stderr)
})
