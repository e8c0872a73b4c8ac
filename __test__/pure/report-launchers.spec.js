'use strict'

// What the summary of a report says of work that its tables leave out, and of a part of the stacks.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** Writes a command that npm and npx have started. @param {number} launcherMs work of each */
function writeCommand(launcherMs) {
  const cwd = temporaryDirectory()
  const processes = [
    { pid: 7, label: 'npm', argv: ['run', 'lint'], spans: [['load npm.js:1', launcherMs]] },
    {
      pid: 8,
      ancestors: [7],
      label: 'npx',
      argv: ['lint'],
      spans: [['load npx.js:1', launcherMs]],
    },
    { pid: 9, ancestors: [8, 7], label: 'lint.js', spans: [['lint lint.js:1', 400]] },
  ]
  for (const each of processes) {
    const ids = { cwd, ppid: each.ancestors?.[0] }
    writeTrace(path.join(cwd, `${each.pid}.trace.json`), /** @type {any} */ ({ ...ids, ...each }))
  }
  return cwd
}

test('the summary says which launchers the tables leave out, and how much they worked', async () => {
  const cwd = writeCommand(100)
  const expected = 'tables without 200 ms of npm and npx, which only started others'
  const { stdout, stderr } = await cli(['report', '.'], { cwd })
  assert.equal(stderr, '')
  assert.ok(stdout.replaceAll('\n', ' ').includes(expected), stdout)
  assert.match(stdout, /\(% of 400 ms of work\)/)
  const markdown = await cli(['report', '.', '--markdown'], { cwd })
  const [, summary] = markdown.stdout.split('\n\n')
  assert.ok(summary.replaceAll('\\', '').endsWith(expected), markdown.stdout)
})

test('launchers that hardly worked are not mentioned', async () => {
  const { stdout } = await cli(['report', '.'], { cwd: writeCommand(1) })
  assert.doesNotMatch(stdout, /only started/)
})

test('a part of the stacks has no count of collections, which are those of all stacks', async () => {
  const cwd = temporaryDirectory()
  const gc = { minor: 29, major: 0, us: 9000, longestUs: 1000 }
  const flush = {
    cat: 'disabled-by-default-devtools.timeline',
    name: 'thread.flush',
    ph: 'I',
    s: 't',
    ts: 1e9 + 150_000,
    args: { data: { gc } },
  }
  const file = writeTrace(path.join(cwd, 'a.trace.json'), {
    spans: [
      ['parse a.js:1', 100],
      ['print a.js:9', 100],
    ],
    events: [flush],
  })
  const all = await report(file)
  assert.equal(all.processes[0].threads[0].collections?.minor, 29)
  const focused = await report(file, { focus: 'parse' })
  assert.equal(focused.processes[0].threads[0].collections, undefined)
  const { stdout } = await cli(['report', 'a.trace.json', '--focus', 'parse'], { cwd })
  assert.doesNotMatch(stdout, /minor/)
})
