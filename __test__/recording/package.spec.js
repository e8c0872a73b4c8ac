'use strict'

// The packed packages, installed by package managers from a registry into an empty folder, without Rust.

const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { binOf, isFetched } = require('../../scripts/package-managers.js')
const { TARGETS, fileName, packageName } = require('../../scripts/targets.js')
const { messages, pattern } = require('../helpers/messages.js')
const { NAME, TARGET, VERSION, packAll, projectWith } = require('../helpers/packages.js')
const { serveRegistry } = require('../helpers/registry.js')
const { run, cleanEnv, temporaryDirectory, FIXTURES } = require('../helpers/run.js')

/**
 * @typedef {object} Manager
 * @property {string} [fetched] its name in scripts/package-managers.js; npm is there with Node
 * @property {string[]} add the command that installs a package
 * @property {string[]} exec the command that runs a package's command
 * @property {Record<string, string>} [files] of the project
 * @property {string} [nodeOptions] of programs in the project
 * @property {boolean} [takesAnyLibc] whether it also installs the package of another libc
 */

/** @type {Record<string, Manager>} */
const MANAGERS = {
  npm: { add: ['npm', 'install'], exec: ['npm', 'exec', '--'] },
  pnpm: { fetched: 'pnpm', add: ['pnpm', 'add'], exec: ['pnpm', 'exec'] },
  'yarn classic': {
    fetched: 'yarn',
    add: ['yarn', 'add'],
    exec: ['yarn', '--silent', 'run'],
    takesAnyLibc: true,
  },
  "yarn berry with Plug'n'Play": {
    fetched: 'berry',
    add: ['yarn', 'add'],
    exec: ['yarn', 'run'],
    files: { '.yarnrc.yml': 'nodeLinker: pnp\n', 'yarn.lock': '' },
    nodeOptions: '--require ./.pnp.cjs',
  },
  bun: { fetched: 'bun', add: ['bun', 'add'], exec: ['bun', 'run'] },
}

const RECORDER = path.sep + fileName('cpu-prof', TARGET)

/** @type {Promise<Awaited<ReturnType<typeof serveRegistry>>> | undefined} */
let serving
const registry = () => {
  serving ??= serveRegistry(packAll())
  return serving
}
test.after(async () => (await serving)?.end())

/** Returns a folder of commands that note that they were called, in place of Rust and a C compiler. */
function withoutCompilers() {
  const dir = temporaryDirectory()
  for (const name of ['cargo', 'rustc', 'cc', 'gcc', 'c++', 'make']) {
    const script = `#!/bin/sh\necho ${name} >> '${dir}/called'\nexit 1\n`
    fs.writeFileSync(path.join(dir, name), script, { mode: 0o755 })
  }
  return dir
}

/** Creates a project with a program, and the environment of its package manager. @param {Manager} manager */
async function createProject({ fetched, files = {} }) {
  const { address } = await registry()
  const project = temporaryDirectory()
  fs.writeFileSync(path.join(project, 'package.json'), '{"name":"project","private":true}')
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text)
  fs.cpSync(FIXTURES, path.join(project, 'fixtures'), { recursive: true })
  const compilers = withoutCompilers()
  const bins = [compilers, path.dirname(process.execPath), '/usr/bin', '/bin']
  const env = {
    // Nothing is known of earlier installs.
    HOME: temporaryDirectory(),
    PATH: [...(fetched ? [binOf(fetched)] : []), ...bins].join(path.delimiter),
    npm_config_registry: address,
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
    YARN_REGISTRY: address,
    YARN_NPM_REGISTRY_SERVER: address,
    YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
    YARN_ENABLE_TELEMETRY: '0',
    // Without a lock file, Yarn refuses to write one where it takes the machine for a CI.
    YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    BUN_CONFIG_REGISTRY: address,
  }
  return { project, env, called: path.join(compilers, 'called') }
}

/** Runs a command to its end. @param {string[]} command @param {string} cwd @param {Record<string, string>} env */
function execute([file, ...args], cwd, env) {
  return new Promise((resolve) => {
    execFile(file, args, { cwd, env: { ...variables(), ...env } }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr, all: `${stdout}${stderr}` })
    })
  })
}

/** Returns the environment without what a package manager around this spec has set. */
function variables() {
  return Object.fromEntries(Object.entries(cleanEnv()).filter(([name]) => !/^npm_/i.test(name)))
}

for (const [title, manager] of Object.entries(MANAGERS)) {
  const { fetched } = manager
  const skip =
    fetched !== undefined && !isFetched(fetched) && 'not fetched: node scripts/package-managers.js'
  test(`${title} installs packages that record without Rust`, { skip }, async () => {
    const { project, env, called } = await createProject(manager)
    const added = await execute([...manager.add, NAME], project, env)
    assert.equal(added.code, 0, added.all)
    const names = new Set(filesOf(project).map((file) => path.basename(file)))
    const installed = Object.keys(TARGETS).filter((target) =>
      names.has(fileName('cpu-prof', target)),
    )
    const usable = manager.takesAnyLibc
      ? installed.filter((target) => target === TARGET)
      : installed
    assert.deepEqual(usable, [TARGET])
    assert.deepEqual(new Set(installed.map(withoutLibc)), new Set([withoutLibc(TARGET)]))

    const main = path.join(project, 'fixtures', 'ending.js')
    const inProject = {
      cwd: project,
      env: manager.nodeOptions ? { NODE_OPTIONS: manager.nodeOptions } : {},
    }
    const required = await run([main], { ...inProject, preload: ['--require', NAME] })
    assert.equal(required.stderr, '')
    assert.equal(required.traces.length, 1)
    const register = ['--require', `${NAME}/register`]
    const registered = await run([main], { ...inProject, preload: register })
    assert.equal(registered.traces.length, 2)

    const command = [...manager.exec, 'cpu-prof', 'run', 'node', main]
    const { code, all } = await execute(command, project, env)
    assert.equal(code, 0, all)
    assert.match(all, /^trace: profiles\/\S+\/trace\.json \(.* 1 process, /m)
    assert.doesNotMatch(all, /not recorded/)
    assert.ok(!fs.existsSync(called), 'no compiler was called')

    // The package of this command is a peer that nobody gets unasked.
    const served = await execute([...manager.exec, 'cpu-prof', 'mcp'], project, env)
    assert.notEqual(served.code, 0)
    const add = new RegExp(
      `-mcp is not installed; run: ${manager.add[0]} (add|install) --\\S+ ${NAME}-mcp@`,
    )
    assert.match(served.all, add)

    const [recorder] = filesOf(project).filter((file) => file.endsWith(RECORDER))
    fs.rmSync(path.dirname(fs.realpathSync(recorder)), { recursive: true })
    const preload = ['--require', NAME]
    const unprofiled = await run([main], { ...inProject, preload, read: 0 })
    assert.equal(unprofiled.code, 0)
    const mend = / is not installed: .*; run: (.*)\n$/.exec(unprofiled.stderr)?.[1]
    assert.ok(mend, `${recorder}: ${unprofiled.stderr}`)
    const mended = await execute(mend.split(' '), project, env)
    assert.equal(mended.code, 0, mended.all)
    assert.equal((await run([main], { ...inProject, preload, read: 0 })).stderr, '')
  })
}

/** Lists the files in a project. @param {string} project */
const filesOf = (project) =>
  fs.readdirSync(project, { recursive: true }).map((file) => path.join(project, String(file)))

/** @param {string} target */
const withoutLibc = (target) => target.replace(/-(gnu|musl)$/, '')

test('npm --omit=optional leaves a program unprofiled, and the command of the message mends it', async () => {
  const { project, env } = await createProject(MANAGERS.npm)
  const added = await execute(['npm', 'install', '--omit=optional', NAME], project, env)
  assert.equal(added.code, 0, added.all)
  const main = path.join(project, 'fixtures', 'ending.js')
  const options = { cwd: project, preload: ['--require', NAME] }
  const unprofiled = await run([main], options)
  assert.equal(unprofiled.code, 0)
  const said = pattern`^${messages.notProfiling}the package ${packageName(TARGET)} is not installed: ${messages.optionalLeftOut} \(.*\); run: (npm install .*${NAME}@${VERSION})\n$`
  assert.match(unprofiled.stderr, said)
  const [, command] = said.exec(unprofiled.stderr) ?? []
  const mended = await execute(command.split(' '), project, env)
  assert.equal(mended.code, 0, mended.all)
  const recorded = await run([main], options)
  assert.equal(recorded.stderr, '')
  assert.equal(recorded.traces.length, 1)
})

for (const kind of ['a folder', 'a link, as pnpm makes it']) {
  test(`a preload loads the addon as require() does: its package is ${kind}`, async () => {
    const project = projectWith([TARGET])
    const folder = path.join(project, 'node_modules', packageName(TARGET))
    if (kind !== 'a folder') {
      const store = path.join(project, 'store')
      fs.renameSync(folder, store)
      fs.symlinkSync(store, folder)
    }
    const addon = JSON.stringify(`${packageName(TARGET)}/${fileName('cpu-prof', TARGET)}`)
    // Node's own loading sets the paths of a module, in which the module would look for others.
    const code = `
      const { cache } = require
      const file = require.resolve(${addon})
      const { exports, loaded, filename, paths } = cache[file]
      console.log(loaded, filename === file, require(${addon}) === exports, paths === undefined)
      console.log(Object.keys(cache).filter((key) => key.endsWith('.node')).length)
      const { isRecording } = require(${JSON.stringify(NAME)})
      console.log(isRecording())`
    const { stdout, stderr, traces } = await run(['-e', code], {
      cwd: project,
      preload: ['--require', NAME],
    })
    assert.equal(stderr, '')
    assert.equal(stdout, 'true true true true\n1\ntrue\n')
    assert.equal(traces.length, 1)
  })
}

test('a folder beside a package that no package manager has installed is not looked at', async () => {
  const folder = temporaryDirectory()
  const [copy, beside] = ['cpu-prof', `cpu-prof-${TARGET}`].map((name) => path.join(folder, name))
  const installed = path.join(projectWith([TARGET]), 'node_modules')
  fs.cpSync(path.join(installed, NAME), copy, { recursive: true })
  fs.cpSync(path.join(installed, packageName(TARGET)), beside, { recursive: true })
  const { stdout, stderr, traces } = await run(['-e', 'console.log("ran")'], {
    preload: ['--require', copy],
  })
  assert.match(stderr, pattern`^${messages.notProfiling}.+\n$`)
  assert.equal(stdout, 'ran\n')
  assert.equal(traces.length, 0)
})

test('a program that only records maps the recorder, and not the tools', async (t) => {
  if (!fs.existsSync('/proc/self/maps')) return t.skip('needs /proc')
  const project = projectWith([TARGET])
  const code = `process.stdout.write(require('node:fs').readFileSync('/proc/self/maps'))`
  const { stdout, traces } = await run(['-e', code], { cwd: project, preload: ['--require', NAME] })
  assert.equal(traces.length, 1)
  const mapped = new Set(stdout.match(/[^/\n]+\.node$/gm))
  assert.deepEqual([...mapped], [fileName('cpu-prof', TARGET)])
})
