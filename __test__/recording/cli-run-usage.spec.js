'use strict'

// Mistakes that `cpu-prof run` reports before the command starts.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')

test('wrong usage is reported before the command starts, with the nearest option', async () => {
  for (const [args, expected] of /** @type {[string[], RegExp][]} */ ([
    [['--intervall', '5', 'echo'], /unknown option '--intervall'\n\(Did you mean --interval\?\)/],
    [['--interval', '0', 'echo'], /--interval=0 is not valid: .* from 1 to 1000000 is allowed/],
    [['--flush-interval', '1', 'echo'], /--flush-interval=1 is not valid/],
    [['--native', '--categories', 'native,http', 'echo'], /--categories=native,http is not valid/],
    [['--format', 'pprof', 'echo'], /--format=pprof is not valid/],
    [['--for', '1e3s', 'echo'], /--for=1e3s is not valid: a time such as 30s/],
    [['--every', '1s', '--keep', '.5m', 'echo'], /--keep=\.5m is not valid: a time such as 10m/],
    [['--output', '.', 'echo'], /--output=\. is a folder/],
    [['--output', '/dev/null', 'echo'], /--output=\/dev\/null is not a regular file/],
    [['--output', 'file/trace.json', 'echo'], /--output=file\S+ .*: \/\S+\/file is not a folder/],
    [
      ['--output', 'file/a/b/trace.json', 'echo'],
      /--output=file\S+ .*: \/\S+\/file is not a folder/,
    ],
    [['--output=', 'echo'], /--output= is a folder/],
    [['--html', '.', 'echo'], pattern`--html=\. ${messages.nameFile}: report\.html\n$`],
    [
      ['--dir', 'file/dir', 'echo'],
      /recordings cannot be written into .*file\/dir: .*another --dir/,
    ],
    [[], /missing required argument 'command'/],
  ])) {
    const cwd = temporaryDirectory()
    fs.writeFileSync(path.join(cwd, 'file'), '')
    const result = await cli(['run', ...args], { cwd })
    assert.equal(result.code, 2, result.stderr)
    assert.match(result.stderr, /^cpu-prof: /)
    assert.match(result.stderr, expected)
    assert.equal(result.stdout, '')
    assert.deepEqual(fs.readdirSync(cwd), ['file'])
  }
})

test('a wrong variable is reported before the command starts', async () => {
  const result = await cli(['run', 'echo'], { env: { CPU_PROF_INTERVAL: 'fast' } })
  assert.equal(result.code, 2)
  assert.match(result.stderr, /^cpu-prof: CPU_PROF_INTERVAL=fast is not valid: .*\n$/)
})

test('--native adds to any list of categories', async () => {
  for (const given of ['cpu', '+http', '+native,http', '+http,native', 'cpu,native', 'cpu,http']) {
    const result = await cli([
      'run',
      '--native',
      '--categories',
      given,
      process.execPath,
      '-e',
      '1',
    ])
    assert.equal(result.code, 0, `${given}: ${result.stderr}`)
  }
})
