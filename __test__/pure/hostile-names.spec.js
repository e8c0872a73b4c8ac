'use strict'

// Recordings of anybody name files: what the tools read of them. Names can have any length.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, LIMITED } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { CONVERTED } = require('../helpers/formats.js')
const { pprofBytes } = require('../helpers/pprof.js')
const { writeProfile } = require('../helpers/written.js')

test('files that never end, wait, or are huge are not read by any tool', async () => {
  const cwd = temporaryDirectory()
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  execFileSync('mkfifo', [at('pipe.js')])
  fs.writeFileSync(at('empty.js'), '')
  fs.writeFileSync(at('map.js'), 'function hot(){}\n//# sourceMappingURL=file:///proc/kmsg\n')
  fs.writeFileSync(at('pages.js'), 'function hot(){}\n//# sourceMappingURL=link.map\n')
  fs.symlinkSync('/proc/self/pagemap', at('link.map'))
  fs.symlinkSync('/proc/kmsg', at('link.js'))
  const huge = Array.from({ length: 6 }, (_, index) => at(`huge${index}.js`))
  for (const file of huge) {
    fs.writeFileSync(file, '')
    fs.truncateSync(file, 1e9)
  }
  const local = ['pipe.js', 'empty.js', 'map.js', 'pages.js', 'link.js'].map(at)
  const ofKernel = ['/proc/kmsg', '/proc/self/pagemap', '/proc/kcore', '/dev/zero', '/dev/tty']
  const file = writeProfile(
    at('a.cpuprofile'),
    [...ofKernel, ...local, ...huge].map((name) => [`hot ${name}:1:14@1`, 3]),
  )
  const commands = [
    ['report', file],
    ['report', file, '--code'],
    ['report', file, '--html', 'a.html'],
    ['merge', file, '-o', 'b.json'],
    ['convert', file, '-o', 'b.collapsed'],
    ['compare', file, file],
  ]
  const ended = await Promise.all(commands.map((args) => cli(args, { cwd, under: LIMITED })))
  for (const [index, { code, signal, stderr }] of ended.entries()) {
    assert.deepEqual([code, signal], [0, null], commands[index].join(' '))
    if (commands[index].includes('--html')) continue
    assert.match(stderr, /map\.js \(\/proc\/kmsg: it is not a file of a disk\)/)
    assert.match(stderr, /and \d+ more/)
  }
})

/** Texts that are names when they are repeated: letters, what is one character on the screen, and signs. */
const PARTS = ['a', 'é', '表', '👨‍👩‍👧', '\u0301', '(', '/', ' ', '.', '%41', '\n', ':']
const LONG = 1_000_000
/** The most memory of a command: a file of a few bytes takes a third. */
const MOST_BYTES = 250 << 20

/** Returns a function that runs commands which write down their memory. @param {string} cwd */
function measured(cwd) {
  const hook = path.join(cwd, 'hook.js')
  const text = `process.on('exit', () => require('fs').writeFileSync(process.env.PEAK,
    String(process.resourceUsage().maxRSS)))`
  fs.writeFileSync(hook, text)
  let count = 0
  return async (/** @type {string[]} */ args) => {
    const peak = path.join(cwd, `${count++}.peak`)
    const env = { NODE_OPTIONS: `--require ${hook}`, PEAK: peak }
    const ended = await cli(args, { cwd, env, under: LIMITED })
    const kb = fs.existsSync(peak) ? fs.readFileSync(peak, 'utf8') : 'unknown'
    return { ...ended, bytes: Number(kb) * 1024 }
  }
}

/** Returns a pprof file whose functions have one text of a million characters as their name. @param {number} count */
function pprofOfOneText(count) {
  const stacks = Array.from({ length: count }, (_, index) => `NAME /r/a.js:${index + 1}`)
  const bytes = pprofBytes(stacks.map((stack) => ({ stack: [stack], values: [1, 1e7] })))
  // A text of a file is a field of the number 6, with its length before it: 7 bits a byte.
  const [short, long] = ['\x32\x04NAME', `\x32\xc0\x84\x3d${'f'.repeat(LONG)}`]
  const file = bytes.toString('latin1')
  assert.ok(file.includes(short))
  return Buffer.from(file.replace(short, long), 'latin1')
}

test('names of a million characters cost no more than their length', async () => {
  const cwd = temporaryDirectory()
  const run = measured(cwd)
  const at = (/** @type {string} */ name) => path.join(cwd, name)
  const long = PARTS.map((part) => `f${part.repeat(LONG / part.length)}`)
  const names = writeProfile(
    at('names.cpuprofile'),
    long.map((name, index) => [[{ name, file: '/r/a.js', line: index + 1 }], 3]),
  )
  const urls = writeProfile(
    at('urls.cpuprofile'),
    long.map((file) => [[{ name: 'f', file: `file:///r/${file}.js`, line: 1 }], 3]),
  )
  const pprof = at('of-one-text.pb')
  fs.writeFileSync(pprof, pprofOfOneText(1500))
  for (const file of [names, urls, pprof]) {
    const commands = [
      ['report', file],
      ['report', file, '--json'],
      ['report', file, '--html', `${file}.html`],
      ['check', file],
      ['compare', file, file],
      ['merge', file, '-o', `${file}.merged`],
      ...CONVERTED.map((ending) => ['convert', file, '-o', `${file}${ending}`]),
    ]
    for (const args of commands) {
      const { code, signal, stdout, stderr, bytes } = await run(args)
      const isUnknown = args[0] === 'check' && file === pprof
      assert.deepEqual([code, signal], [isUnknown ? 1 : 0, null], `${args.join(' ')}\n${stderr}`)
      assert.ok(bytes < MOST_BYTES, `${args.join(' ')}: ${bytes >> 20} MiB`)
      assert.ok(stdout.length + stderr.length < LONG, args.join(' '))
    }
  }
})
