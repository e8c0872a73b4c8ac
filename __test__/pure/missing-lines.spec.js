'use strict'

// The lines about Node processes that left no recording, from written facts about the processes.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { missingText } = require('../../cli/run/after/missing-lines.js')

/** The recording of a process with the id 4242. */
const MAIN = path.join(PACKAGE, 'src', 'core', 'format', 'trace', 'golden', 'main.trace.json')

/** Returns a process as the watcher knows one. @param {number} pid @param {Partial<import('../../cli/run/watch/node-facts.js').NodeFacts>} [facts] @param {number} [startMs] */
function seen(pid, facts = {}, startMs = 1) {
  const words = ['node', 'build.js']
  const node = {
    executable: process.execPath,
    words,
    namespacePid: pid,
    user: process.getuid?.() ?? 0,
    nodeOptions: null,
    run: undefined,
  }
  const times = { startMs, foundMs: 0, seenMs: 0 }
  return { pid, name: 'node', isThere: false, ...times, node: { ...node, ...facts } }
}

test('many processes are a few lines', () => {
  const same = Array.from({ length: 200 }, (_, i) =>
    seen(2 ** 30 + i, { words: ['node', 'build.js', `p${i}`] }),
  )
  const others = Array.from({ length: 20 }, (_, i) =>
    seen(2 ** 30 + 1000 + i, { words: ['node', `${i}.js`], under: 'turbo' }),
  )
  const lines = missingText([...same, ...others], [], '').split('\n')
  assert.equal(lines.length, 9)
  assert.equal(lines[0], 'not recorded: 220 of 220 Node processes')
  assert.match(
    lines[1],
    /^ {2}node build\.js … \(200 processes, pid 1073741824, 1073741825, 1073741826, …, up to /,
  )
  assert.match(lines[2], /, under turbo\): .*; start turbo with --env-mode=loose$/)
  assert.deepEqual(lines.slice(-2), ['  and 15 more', ''])
})

test('a recorded process is known by its id and its start', () => {
  const recorded = seen(4242, {}, 522975430)
  assert.equal(missingText([recorded], [MAIN], ''), '')
  const reused = seen(4242, {}, 522975440)
  assert.match(
    missingText([recorded, reused], [MAIN], ''),
    /^not recorded: 1 of 2 Node processes\n/,
  )
  // A recording that does not tell its process could be the one of any.
  const file = path.join(temporaryDirectory(), 'x.cpuprofile')
  fs.writeFileSync(file, '{"nodes":[]}')
  assert.equal(missingText([reused], [MAIN, file], ''), '')
})

test('a Node that runs no program is not missing', () => {
  for (const words of [
    ['node', '--version'],
    ['node', '--run', 'build'],
    ['node', '--watch', 'x.js'],
    ['node', '--watch-path=src', 'x.js'],
    ['node', '--no-warnings', '--v8-options'],
  ]) {
    assert.equal(missingText([seen(2 ** 30, { words })], [], ''), '', words.join(' '))
  }
  const words = ['node', 'x.js', '--version']
  assert.notEqual(missingText([seen(2 ** 30, { words })], [], ''), '')
})

test('the cause is that of the environment, the options or the user', () => {
  const run = /** @type {const} */ ({ run: 'this', nodeOptions: '--require /x' })
  const user = process.getuid?.() ?? 0
  for (const [facts, expected] of /** @type {[object, RegExp][]} */ ([
    [{ under: 'turbo', user }, /start turbo with --env-mode=loose$/],
    [{ under: 'sudo', user: user + 1 }, /takes no settings .*; start cpu-prof under sudo$/],
    [{ ...run, words: ['node', '--permission', 'x.js'] }, /--permission forbids .* --allow-addons/],
    [{ ...run, nodeOptions: '--no-addons --require /x' }, /--no-addons forbids the profiler/],
    [{ ...run, user: user + 1 }, /takes no settings from this run; start cpu-prof as that user$/],
    [{ ...run, user }, /(ended before its preload|the preload failed)/],
  ])) {
    const [, line] = missingText([seen(2 ** 30, facts)], [], '').split('\n')
    assert.match(line, expected)
  }
  assert.equal(missingText([seen(2 ** 30, { run: 'other' })], [], ''), '')
})
