'use strict'

// `cpu-prof mcp` records commands: a real build and its change, and commands that fail, go on or are given up.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PACKAGE, temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { connect } = require('../helpers/mcp.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')
const { until } = require('../../../../__test__/helpers/until.js')

/** A build with esbuild and a plugin of its own. */
const BUILD = `
const { build } = require('esbuild')
const { slowPlugin } = require('./plugin.js')
build({ entryPoints: ['src/main.js'], bundle: true, write: false, plugins: [slowPlugin] })
`
/** By counts, so that it works equally much on a busy machine. */
const plugin = (/** @type {number} */ steps) => `
const fs = require('node:fs')
function expandTemplates(text) {
  let sum = 0
  for (let i = 0; i < ${steps}; i++) sum += i % 7
  return text + '//' + sum
}
exports.slowPlugin = {
  name: 'templates',
  setup(build) {
    build.onLoad({ filter: /\\.js$/ }, ({ path }) => {
      return { contents: expandTemplates(fs.readFileSync(path, 'utf8')), loader: 'js' }
    })
  },
}
`

/** Runs until SIGTERM, which the program answers by a file and an end of its own. */
const UNTIL_TERM = `
const fs = require('node:fs')
process.on('SIGTERM', () => {
  fs.writeFileSync('terminated', '')
  process.exit(7)
})
function spinUntilTold() {
  for (const end = Date.now() + 20; Date.now() < end; ) Math.sqrt(2)
  setTimeout(spinUntilTold)
}
spinUntilTold()
fs.writeFileSync('started', '')
`

/** @param {Record<string, string>} files */
function createProject(files) {
  const project = temporaryDirectory()
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
    fs.writeFileSync(path.join(project, name), text)
  }
  return project
}

/** @param {string} project @param {string} name */
const has = (project, name) => fs.existsSync(path.join(project, name))
/** Returns the traces of the runs of a project. @param {string} project */
const tracesOf = (project) =>
  has(project, 'profiles')
    ? fs
        .readdirSync(path.join(project, 'profiles'))
        .filter((name) => has(project, path.join('profiles', name, 'trace.json')))
    : []

test('why is the build slow: record, hotspots, function, code, and compare after the change', async (t) => {
  const project = createProject({
    'build.js': BUILD,
    'plugin.js': plugin(3e8),
    'src/main.js': `import './other.js'\nconsole.log(1)\n`,
    'src/other.js': 'console.log(2)\n',
  })
  fs.symlinkSync(path.join(PACKAGE, 'node_modules'), path.join(project, 'node_modules'))
  const { call } = await connect(t, project)
  const before = await call('record', { command: [process.execPath, 'build.js'] })
  assert.deepEqual([before.data.recorded, before.data.exitCode], [true, 0], before.text)
  // The first answer has the culprit.
  assert.match(before.text, /expandTemplates {2}plugin\.js:3/)
  const [first] = before.data.functionsBySelf
  assert.deepEqual([first.name, first.place], ['expandTemplates', 'plugin.js:3'])

  const hot = await call('hotspots', { run: before.data.run, by: 'function' })
  assert.equal(hot.data.functionsBySelf[0].name, 'expandTemplates')
  const named = await call('function', { function: 'expandTemplates' })
  assert.equal(named.data.place, 'plugin.js:3')
  assert.ok(named.data.share > 0.5, named.text)
  assert.ok(named.data.callers.length > 0)
  const code = await call('code', { count: 1 })
  assert.match(code.text, /5 {4}for \(let i = 0; i < 300000000; i\+\+\)/)
  for (const { text } of [before, hot, named, code]) assert.ok(text.length <= 6000)

  fs.writeFileSync(path.join(project, 'plugin.js'), plugin(1e5))
  const after = await call('record', { command: [process.execPath, 'build.js'] })
  const compared = await call('compare', { base: before.data.run, head: after.data.run })
  assert.match(compared.data.verdict, /^faster by .*plugin plugin\.js −/)
  const [row] = compared.data.functionsBySelf
  assert.equal(row.name, 'expandTemplates')
  assert.ok(row.head < 0.1 * row.base, compared.text)
  const { data } = await call('runs')
  assert.deepEqual(
    data.runs.map((/** @type {any} */ { run }) => run),
    [after.data.run, before.data.run],
  )
})

test('several runs of a command are one name, with which compare knows the noise', async (t) => {
  const project = createProject({ 'work.js': 'for (let i = 0; i < 3e7; i++) Math.sqrt(i)\n' })
  const { call } = await connect(t, project)
  const command = [process.execPath, 'work.js']
  const { data, text } = await call('record', { command, repeat: 2 })
  assert.deepEqual([data.recorded, data.runs], [true, 2], text)
  assert.match(text, /note: the last of 2 runs in /)
  const compared = await call('compare', { base: data.run, head: data.run })
  assert.deepEqual([compared.data.base.runs, compared.data.head.runs], [2, 2])
})

test('what a command prints is its end in the answer, and never a message of the protocol', async (t) => {
  const project = createProject({
    'loud.js': `
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} })
      for (let i = 0; i < 20000; i++) console.log('line ' + i)
      // Both streams are one pipe, and Node writes each in its own time.
      process.stdout.write(message + '\\n', () => console.error('\\x1b[31mfailed\\x1b[0m: one\\u202etwo'))
      process.exitCode = 3`,
  })
  const { call, end } = await connect(t, project)
  const { data, text, isError } = await call('record', { command: [process.execPath, 'loud.js'] })
  assert.deepEqual([isError, data.exitCode, data.recorded], [false, 3, true])
  assert.ok(data.output.length <= 20 && data.output.length > 2, text)
  assert.equal(data.output.at(-1), 'failed: one two')
  assert.match(data.output.at(-2), /jsonrpc/)
  assert.match(text, /the command ended with 3 after/)
  assert.equal(await end(), '')
})

test('a command that cannot be recorded says why', async (t) => {
  const { call } = await connect(t, createProject({}))
  const absent = await call('record', { command: ['no-such-command'] })
  assert.equal(absent.data.recorded, false)
  assert.match(absent.text, pattern`${messages.notOnPath('no-such-command')}`)
  const shell = await call('record', { command: ['sh', '-c', 'echo hello; exit 4'] })
  assert.deepEqual([shell.data.recorded, shell.data.exitCode], [false, 4])
  assert.match(shell.text, pattern`${messages.noneRecorded}`)
  assert.deepEqual(shell.data.output, ['hello'])
  assert.equal((await call('runs')).data.count, 0)
})

test('of two recordings at once the second is refused', async (t) => {
  const project = createProject({ 'until-term.js': UNTIL_TERM })
  const { call } = await connect(t, project)
  const giveUp = new AbortController()
  const command = [process.execPath, 'until-term.js']
  const first = call('record', { command }, { signal: giveUp.signal })
  const failed = assert.rejects(first)
  await until(() => has(project, 'started'))
  const second = await call('record', { command: [process.execPath, '-e', '0'] })
  assert.ok(second.isError)
  assert.match(second.text, /^a recording is running \(.*until-term\.js\)/)
  // Reading goes on meanwhile.
  assert.equal((await call('runs')).data.count, 0)
  giveUp.abort()
  await failed
  await until(() => tracesOf(project).length === 1)
})

test('a cancelled recording ends its command by SIGTERM, and is kept', async (t) => {
  const project = createProject({ 'until-term.js': UNTIL_TERM })
  const { call } = await connect(t, project)
  const giveUp = new AbortController()
  const command = [process.execPath, 'until-term.js']
  const recorded = call('record', { command }, { signal: giveUp.signal })
  const failed = assert.rejects(recorded)
  await until(() => has(project, 'started'))
  giveUp.abort()
  await failed
  await until(() => has(project, 'terminated') && tracesOf(project).length === 1)
  const { text } = await call('hotspots', { by: 'function' })
  assert.match(text, /spinUntilTold {2}until-term\.js/)
})

test('a command that takes too long gets SIGTERM, and its recording is the answer', async (t) => {
  const project = createProject({ 'until-term.js': UNTIL_TERM })
  const { call } = await connect(t, project)
  const command = [process.execPath, 'until-term.js']
  /** @type {number[]} */
  const progress = []
  const { data, text } = await call(
    'record',
    { command, timeoutSeconds: 3 },
    { onprogress: ({ progress: seconds }) => progress.push(seconds) },
  )
  assert.deepEqual([data.timedOut, data.exitCode, data.recorded], [true, 7, true])
  assert.match(text, /ended with 7, because the limit of 3 s was reached/)
  assert.equal(data.functionsBySelf[0].name, 'spinUntilTold')
  assert.ok(
    progress.length > 0 && progress.every((seconds, at) => at === 0 || seconds > progress[at - 1]),
  )
})

for (const [how, leave] of /** @type {[string, (agent: any) => unknown][]} */ ([
  ['disconnects', ({ client }) => client.close()],
  ['kills the server', ({ pid }) => process.kill(pid, 'SIGKILL')],
])) {
  test(`where the agent ${how}, the command gets SIGTERM, and its recording is kept`, async (t) => {
    const project = createProject({ 'until-term.js': UNTIL_TERM })
    const agent = await connect(t, project)
    const recorded = agent.call('record', { command: [process.execPath, 'until-term.js'] })
    const failed = assert.rejects(recorded)
    await until(() => has(project, 'started'))
    await leave(agent)
    await failed
    await until(() => has(project, 'terminated') && tracesOf(project).length === 1)
    // The next server finds it.
    const { call } = await connect(t, project)
    assert.match((await call('hotspots')).text, /spinUntilTold/)
  })
}

test('a command that ignores SIGTERM goes on, and no other recording begins', async (t) => {
  const code = `
    const fs = require('node:fs')
    process.on('SIGTERM', () => fs.writeFileSync('ignored', ''))
    const wait = setInterval(() => fs.existsSync('end') && clearInterval(wait), 20)
    fs.writeFileSync('started', '')`
  const project = createProject({ 'stubborn.js': code })
  const { call } = await connect(t, project)
  const giveUp = new AbortController()
  const command = [process.execPath, 'stubborn.js']
  const recorded = call('record', { command }, { signal: giveUp.signal })
  const failed = assert.rejects(recorded)
  await until(() => has(project, 'started'))
  giveUp.abort()
  await failed
  await until(() => has(project, 'ignored'))
  const again = await call('record', { command: [process.execPath, '-e', '0'] })
  assert.match(again.text, /^a recording is running/)
  fs.writeFileSync(path.join(project, 'end'), '')
  await until(() => tracesOf(project).length === 1)
})

test('a command runs in a folder of the project, and its run is with the others', async (t) => {
  const project = createProject({ 'packages/a/main.js': 'console.log(process.cwd())\n' })
  const { call } = await connect(t, project)
  const { data } = await call('record', {
    command: [process.execPath, 'main.js'],
    cwd: 'packages/a',
  })
  assert.deepEqual(data.output, [path.join(project, 'packages', 'a')])
  assert.deepEqual(tracesOf(project), [data.run])
  assert.ok(!has(project, 'packages/a/profiles'))
})
