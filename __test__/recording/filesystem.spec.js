'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const { withFileSystem } = require('../helpers/mount.js')
const { merge, report } = require('../../index.js')
const { run, temporaryDirectory, tracesIn, readTrace, PACKAGE } = require('../helpers/run.js')
const { isInspector, NEEDS_WAKE_UP } = require('../helpers/source.js')
const { runUnharmed } = require('../helpers/unharmed.js')
const { assertSeen } = require('../helpers/work.js')

const FAST = { CPU_PROF_FLUSH_INTERVAL: '20' }
const NO_MOUNT = 'this user may not mount anything'

/**
 * A program whose trace grows by a third of a kilobyte in a millisecond, and room for a part of the
 * trace: for the first window, even if half a second passes before it is written, and not for all,
 * even if V8 takes no samples for half a second.
 */
const GROWING = ['growing.js', '600']
const ROOM_KB = 200

/** Returns a command that runs some lines of shell, then its remaining arguments. @param {string} lines */
const afterShell = (lines) => ['sh', '-c', `${lines}\nexec "$@"`, 'sh']

// Root may write everywhere unless it loses this capability.
const UNPRIVILEGED = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []

/** @type {{what: string, env: Record<string, string>, expected: RegExp, under?: string[], fill?: (dir: string) => void}[]} */
const UNWRITABLE = [
  {
    what: 'a directory without write permission',
    env: { CPU_PROF_DIR: 'locked' },
    fill: (dir) => fs.mkdirSync(path.join(dir, 'locked'), 0o555),
    under: UNPRIVILEGED,
    expected: /Permission denied .*\(set CPU_PROF_DIR/,
  },
  {
    what: 'a directory inside one without write permission',
    env: { CPU_PROF_DIR: 'locked/a/b' },
    fill: (dir) => fs.mkdirSync(path.join(dir, 'locked'), 0o555),
    under: UNPRIVILEGED,
    expected: /Permission denied .*\(set CPU_PROF_DIR/,
  },
  {
    what: 'a directory that is a dangling link',
    env: { CPU_PROF_DIR: 'link' },
    fill: (dir) => fs.symlinkSync('nowhere', path.join(dir, 'link')),
    expected: /link\/CPU.*001\.trace\.json: not a directory/,
  },
  {
    what: 'a directory that is a link to itself',
    env: { CPU_PROF_DIR: 'link' },
    fill: (dir) => fs.symlinkSync('link', path.join(dir, 'link')),
    expected: /Too many levels of symbolic links/,
  },
  {
    what: 'a name that is too long',
    env: { CPU_PROF_NAME: 'n'.repeat(300) },
    expected: /File name too long/,
  },
  {
    what: 'a path that is too long',
    env: { CPU_PROF_DIR: 'a/'.repeat(2500) },
    expected: /File name too long/,
  },
  {
    what: 'a file system that cannot hold files',
    env: { CPU_PROF_DIR: '/proc' },
    expected: /No such file or directory/,
  },
]

for (const { what, env, expected, under, fill } of UNWRITABLE) {
  test(`${what}: one line on stderr, and the program runs on`, async () => {
    const cwd = temporaryDirectory()
    fill?.(cwd)
    const result = await runUnharmed(['ending.js', 'exit', '10'], { cwd, env, under })
    assert.equal(result.code, 3)
    assert.match(
      result.complaint,
      pattern`^cpu-prof: ${messages.notCreated} .*; ${messages.runsOn}`,
    )
    assert.match(result.complaint, expected)
    assert.deepEqual(result.files, [])
  })
}

test('a read-only file system: one line on stderr', async (t) => {
  const under = withFileSystem('ro')
  if (under === undefined) return t.skip(NO_MOUNT)
  const { complaint, code } = await runUnharmed(['ending.js', 'exit', '10'], {
    under,
    env: { CPU_PROF_DIR: 'mounted' },
  })
  assert.equal(code, 3)
  assert.match(
    complaint,
    pattern`${messages.notCreated} .*: Read-only file system .*\(set CPU_PROF_DIR`,
  )
})

for (const [what, redirection] of [
  ['closed', 'exec 2>&-'],
  ['full', 'exec 2>/dev/full'],
  [
    'a full pipe without a reader',
    'mkfifo pipe; exec 9<>pipe; head -c 65536 /dev/zero >&9; exec 2>&9',
  ],
]) {
  test(`a failure to write the trace is harmless while stderr is ${what}`, async () => {
    const { code, stdout, complaint } = await runUnharmed(['-e', 'console.log("ran")'], {
      env: { CPU_PROF_DIR: '/proc' },
      under: afterShell(`rm -f pipe; ${redirection}`),
    })
    assert.equal(code, 0)
    assert.equal(stdout, 'ran\n')
    assert.equal(complaint, '')
  })
}

test('a disk that fills up cuts the trace, not the program', async (t) => {
  const under = withFileSystem(`size=${ROOM_KB}k`)
  if (under === undefined) return t.skip(NO_MOUNT)
  const { code, stdout, complaint, cwd } = await runUnharmed(GROWING, {
    under,
    env: { ...FAST, CPU_PROF_DIR: 'mounted' },
  })
  assert.equal(code, 3)
  assert.equal(stdout, 'worked\n')
  assert.match(
    complaint,
    pattern`${messages.notWritten} .*: No space left on device .*\(free some space`,
  )
  await assertCut(cwd)
})

test('a disk that is full from the start: one line on stderr, and no empty file', async (t) => {
  const under = withFileSystem('size=4k')
  if (under === undefined) return t.skip(NO_MOUNT)
  const fillUp = afterShell('head -c 4096 /dev/zero > mounted/zeros')
  const { complaint, cwd } = await runUnharmed(['ending.js', 'exit', '10'], {
    under: [...under, ...fillUp],
    env: { CPU_PROF_DIR: 'mounted' },
  })
  assert.match(complaint, pattern`${messages.notWritten} .*: No space left on device`)
  assert.deepEqual(tracesIn(cwd), [])
})

test('a limit on the size of files cuts the trace, not the program', async () => {
  const { code, stdout, complaint, cwd } = await runUnharmed(GROWING, {
    // The shell counts blocks of 512 bytes.
    under: afterShell(`ulimit -f ${2 * ROOM_KB}`),
    env: FAST,
  })
  assert.equal(code, 3)
  assert.equal(stdout, 'worked\n')
  assert.match(complaint, pattern`${messages.notWritten} .*: File too large`)
  await assertCut(cwd)
})

/** Checks that the trace written before the failure is valid. @param {string} dir */
async function assertCut(dir) {
  const [file, ...others] = tracesIn(dir)
  assert.deepEqual(others, [])
  const trace = await readTrace(file)
  // The program never returns to its event loop.
  if (isInspector) return
  assert.ok(trace.totalShare((/** @type {any} */ frame) => /^made/.test(frame.functionName)) > 0)
}

test('a recording goes on when a full disk has room again, and tells the gap', {
  skip: NEEDS_WAKE_UP,
}, async (t) => {
  const under = withFileSystem(`size=${ROOM_KB}k`)
  if (under === undefined) return t.skip(NO_MOUNT)
  const { stdout, stderr, cwd } = await run(['full-disk.js', PACKAGE], {
    under,
    preload: null,
    env: { ...FAST, CPU_PROF_DIR: 'mounted' },
    during: (child, dir) => {
      child.stderr?.once('data', () => fs.writeFileSync(path.join(dir, 'told'), ''))
    },
  })
  assert.match(
    stderr,
    pattern`^cpu-prof: ${messages.notWritten} .*; ${messages.goesOn}, without .*\n$`,
  )
  const stopped = JSON.parse(stdout)
  const [file] = tracesIn(cwd)
  const trace = await readTrace(file)
  assert.ok(trace.ended)
  for (const name of ['before', 'after']) assertSeen(trace, name)

  // A sample of the root ends the last sample before each gap.
  const isRoot = (/** @type {any} */ { node }) => node.callFrame.functionName === '(root)'
  const gaps = trace.events.flatMap((/** @type {any} */ { args }) => args.data?.lostSamples ?? [])
  const lost = gaps.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0)
  assert.ok(lost > 0)
  assert.equal(stopped.droppedSamples, lost)
  const roots = trace.samples.filter(isRoot)
  assert.equal(roots.length, gaps.length)
  assert.equal(stopped.samples, trace.samples.length - roots.length)

  const merged = path.join(cwd, 'merged.json')
  await merge(file, merged)
  for (const input of [file, merged]) {
    const { notes } = await report(input)
    assert.match(
      notes.join(),
      /lacks \d+\.\d s of its time, because its files could not be written/,
    )
  }
})
