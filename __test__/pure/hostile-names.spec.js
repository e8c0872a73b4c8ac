'use strict'

// Recordings of anybody name files: what the tools read of them.

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli, LIMITED } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
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
