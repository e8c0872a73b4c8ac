'use strict'

// The end of the command line, which is not Node's own.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, textFrom, BIN, LIMITED } = require('../helpers/cli.js')
const { cleanEnv, filesIn, temporaryDirectory, FIXTURES } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { writeTrace } = require('../helpers/written.js')

/** Runs the command line in a process that Node itself cannot end; one that hangs is killed. */
const ENDLESS = [...LIMITED, process.execPath, path.join(FIXTURES, 'ended.js')]
const SKIP = process.platform === 'win32' && 'Node ends the process on Windows'

/** Writes a trace of functions with long names into a new folder that has a pipe. @param {number} functions */
function folder(functions) {
  const cwd = temporaryDirectory()
  const name = (/** @type {number} */ i) => `f${i}_${'x'.repeat(1000)} app.js:${i + 1}`
  writeTrace(path.join(cwd, 'a.trace.json'), {
    label: 'app.js',
    spans: Array.from({ length: functions }, (_, i) => [name(i), 1]),
  })
  execFileSync('mkfifo', [path.join(cwd, 'pipe')])
  return { cwd, under: ENDLESS, env: { PIPE: path.join(cwd, 'pipe') } }
}

test('a command ends where Node would wait for a thread, with the code of an exit listener', {
  skip: SKIP,
}, async () => {
  const options = folder(1)
  const merged = await cli(['merge', 'a.trace.json', '-o', 'merged.json'], options)
  assert.equal(merged.code, 0, merged.stderr)
  assert.match(merged.stderr, /exit listener: 0\n$/)
  assert.ok(fs.existsSync(path.join(options.cwd, 'merged.json')))

  const failed = await cli(['report', 'absent'], options)
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, pattern`${messages.nothingRead}.*\n(.*\n)*exit listener: 1\n$`)

  const env = { ...options.env, EXIT_CODE: '7' }
  assert.equal((await cli(['report', 'absent'], { ...options, env })).code, 7)
})

test('output of several megabytes arrives whole', { skip: SKIP }, async () => {
  const options = folder(3000)
  const args = ['report', 'a.trace.json', '--json', '--top', '3000']
  // Node's own pipes are sockets.
  const { code, stdout } = await cli(args, options)
  assert.equal(code, 0)
  assert.ok(stdout.length > 5e6)
  assert.equal(JSON.parse(stdout).functions.length, 3000)

  const command = [...ENDLESS, process.execPath, BIN, ...args].map((word) => `'${word}'`).join(' ')
  const env = { ...cleanEnv(), ...options.env }
  for (const output of ['| (dd bs=1 count=1 2>&-; cat) > out', '> out']) {
    execFileSync('sh', ['-c', `${command} ${output}`], { cwd: options.cwd, env, stdio: 'ignore' })
    assert.equal(fs.readFileSync(path.join(options.cwd, 'out'), 'utf8'), stdout, output)
  }
})

test('a pipe that other programs share waits again for its reader', { skip: SKIP }, () => {
  const { cwd } = folder(3000)
  const script = '"$0" "$1" report a.trace.json --json --top 3000; cat a.trace.json'
  const args = ['-c', `(${script}) | (dd bs=1 count=1 2>&-; cat) > out`, process.execPath, BIN]
  execFileSync('sh', args, { cwd, env: cleanEnv(), stdio: 'ignore' })
  const [output, trace] = ['out', 'a.trace.json'].map((file) =>
    fs.readFileSync(path.join(cwd, file), 'utf8'),
  )
  assert.ok(output.length > 5e6 + trace.length)
  assert.ok(output.endsWith(trace))
})

test('what a process still waits for comes first', { skip: SKIP }, async () => {
  const { env, ...options } = folder(1)
  const { code, stderr } = await cli(['merge', 'a.trace.json', '-o', 'merged.json'], {
    ...options,
    env: { ...env, READS_STDIN: '1' },
    during: async (child) => {
      await textFrom(child.stdout, 'merged.json')
      child.stdin?.end()
    },
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /stdin is at its end\nexit listener: 0\n$/)
})

test('what Node writes at its end is written', () => {
  const { cwd } = folder(1)
  const [coverage, profiles] = ['coverage', 'profiles'].map((name) => path.join(cwd, name))
  const options = ['--no-warnings', '--cpu-prof', `--cpu-prof-dir=${profiles}`]
  execFileSync(process.execPath, [...options, BIN, 'merge', 'a.trace.json', '-o', 'merged.json'], {
    cwd,
    env: cleanEnv(),
  })
  assert.equal(filesIn(profiles, '.cpuprofile').length, 1)
  const env = { ...cleanEnv(), NODE_V8_COVERAGE: coverage }
  execFileSync(process.execPath, [BIN, 'merge', 'a.trace.json', '-o', 'merged.json'], { cwd, env })
  assert.equal(filesIn(coverage, '.json').length, 1)
})
