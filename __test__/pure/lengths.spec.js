'use strict'

// Lengths of time on the command line: one grammar for all options, which is that of the settings.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { loadTools } = require('../../lib/addon.js')
const { cli } = require('../helpers/cli.js')
const { messages, pattern } = require('../helpers/messages.js')
const { socketFolder } = require('../helpers/armed.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** Texts that are not lengths of time, or lengths that nothing allows. */
const WRONG = [
  '',
  '10',
  '1e3s',
  ' 1s',
  '1 s',
  '+1s',
  '.5s',
  '1.s',
  '1.5.2s',
  '1m30s',
  '１s',
  '1µs',
  'soon',
  '1000001d',
  '99999999999999999999d',
]
/** Those of them that the command line is tried with. */
const SOME = ['', '10x', '1e3s', '1 s', '.5s', '99999999999999999999d']

/** Commands that end before they look for anything but their options, and what they say of a value. @type {[string[], string, RegExp][]} */
const OPTIONS = [
  [['record', '--all'], '--for', pattern`${messages.useLength}, .*, from 1ms to 31d\.`],
  [['start', '--all'], '--for', pattern`${messages.useLength}, .*, from 1ms to 31d\.`],
  [['push', '.', '--to', 'http://localhost:1'], '--every', /from 1ms to 24d\./],
  [['lake', 'compact', 'none'], '--older-than', /Use a length such as .*, from 0d\./],
  [['lake', 'compact', 'none'], '--grace', /Use a length such as .*, from 0d\./],
]

test('a length is a decimal number and a unit', () => {
  const { cpuProfLengthMs } = loadTools()
  const lengths = { '500ms': 500, '1.5s': 1500, '10m': 600_000, '2h': 7_200_000, '0.4ms': 0.4 }
  for (const [text, ms] of Object.entries({ ...lengths, '3d': 3 * 86_400_000, '0s': 0 })) {
    assert.equal(cpuProfLengthMs(text), ms, text)
  }
  assert.equal(cpuProfLengthMs('2w'), 14 * Number(cpuProfLengthMs('1d')))
  assert.equal(cpuProfLengthMs('1000000d'), 1e6 * 86_400_000)
  for (const text of [...WRONG, '-1s']) assert.equal(cpuProfLengthMs(text), null, text)
})

for (const [command, option, message] of OPTIONS) {
  test(`${command[0]} ${option} refuses other texts`, async () => {
    const values = command[0] === 'lake' ? SOME : [...SOME, '0s', '0.4ms']
    await Promise.all(
      values.map(async (value) => {
        const { code, stdout, stderr } = await cli([...command, `${option}=${value}`])
        assert.deepEqual([code, stdout], [2, ''], value)
        const start = `cpu-prof: option '${option} `
        assert.ok(stderr.startsWith(start) && stderr.includes(`'${value}' is invalid`), stderr)
        assert.match(stderr, message)
      }),
    )
  })
}

test('each setting that is a length says what it takes, and takes any unit', () => {
  const { cpuProfCheckSettings } = loadTools()
  for (const [name, value, bounds] of [
    ['for', '1e3s', 'from 100ms to 1d'],
    ['every', '.5s', 'from 100ms to 1d'],
    ['keep', '999ms', 'from 1s to 1000000d'],
  ]) {
    const problem = cpuProfCheckSettings({ [name]: value })
    const start = `${name}=${value} is not valid: a time such as `
    assert.ok(problem?.startsWith(start) && problem.includes(bounds), String(problem))
    for (const length of ['1500ms', '1.5s', '10m', '0.5h', '1d']) {
      assert.equal(cpuProfCheckSettings({ [name]: length }), null, `${name} ${length}`)
    }
  }
  const condition = { start: 'stall>0.5s,cpu>90%/1500ms', for: '500ms' }
  assert.equal(cpuProfCheckSettings(condition), null)
  assert.match(
    String(cpuProfCheckSettings({ start: 'stall>1e3ms' })),
    /stall> takes a time such as 500ms/,
  )
})

test('lengths with any unit are taken', async () => {
  // They are wrong usage where they are refused; so the command fails later, at what is not there.
  const env = { CPU_PROF_SOCKET: socketFolder(), XDG_RUNTIME_DIR: '', TMPDIR: temporaryDirectory() }
  for (const value of ['500ms', '1.5s', '10m', '0.5h', '3d', '4w', '31d', '744h', '0.6ms']) {
    for (const command of ['record', 'start']) {
      const { code, stderr } = await cli([command, '--all', '--for', value], { env })
      assert.equal(code, 1, stderr)
      assert.match(stderr, /no process is armed/)
    }
  }
  for (const value of ['30m', '12h', '7d', '0d', '999999d', '1.5d', '500ms', '2w']) {
    for (const option of ['--older-than', '--grace']) {
      const { code, stderr } = await cli(['lake', 'compact', 'none', option, value])
      assert.equal(code, 1, stderr)
    }
  }
})

test('a moment is a number or a length, from the start or the end', async () => {
  const cwd = temporaryDirectory()
  const file = path.join(cwd, 'CPU.20260101.101010.7.0.001.trace.json')
  writeTrace(file, { cwd, spans: [['main a.js:1 > spin spin.js:10', 600]] })
  for (const [from, to, durationMs] of /** @type {[string, string, number][]} */ ([
    ['100', '0.2s', 100],
    ['100.5', '200.5ms', 100],
    ['0.005m', '500', 200],
    ['-100', '-0.05s', 50],
    ['-0.005m', '1d', 300],
  ])) {
    const { code, stdout, stderr } = await cli(
      ['report', '.', '--json', '--from', from, '--to', to],
      { cwd },
    )
    assert.deepEqual([code, stderr], [0, ''], `${from} ${to}`)
    assert.equal(JSON.parse(stdout).durationMs, durationMs, `${from} ${to}`)
  }
  await Promise.all(
    [...SOME, '--1s', '-', '- 1s'].map(async (value, at) => {
      const option = ['--from', '--to', '--stalls'][at % 3]
      const { code, stderr } = await cli(['report', '.', `${option}=${value}`], { cwd })
      assert.equal(code, 2, `${option} ${value}`)
      assert.ok(stderr.startsWith(`cpu-prof: option '${option} `), stderr)
      assert.match(stderr, /Use (a time such as 1500|milliseconds, or)/)
    }),
  )
  const { code, stdout } = await cli(['report', '.', '--stalls=0.1s', '--json'], { cwd })
  assert.equal(code, 0)
  assert.equal(JSON.parse(stdout).stalls.length, 1)
  const none = await cli(['report', '.', '--stalls=1m', '--json'], { cwd })
  assert.equal(JSON.parse(none.stdout).stalls.length, 0)
})
