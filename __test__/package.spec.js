'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('./helpers/run.js')

/** @param {string[]} args @param {string} cwd */
function npm(args, cwd) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

test('the packed packages work when installed in an empty folder', async () => {
  const platform = path.join(temporaryDirectory(), 'platform')
  fs.cpSync(path.join(PACKAGE, 'npm', 'linux-x64-gnu'), platform, { recursive: true })
  const addon = 'cpu-prof.linux-x64-gnu.node'
  fs.copyFileSync(path.join(PACKAGE, addon), path.join(platform, addon))

  const stranger = temporaryDirectory()
  const tarballs = [PACKAGE, platform].map((dir) => {
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', stranger]
    return `./${JSON.parse(npm(pack, dir))[0].filename}`
  })
  fs.writeFileSync(path.join(stranger, 'package.json'), '{}')
  npm(['install', '--offline', '--no-audit', ...tarballs], stranger)
  const installed = fs.readdirSync(path.join(stranger, 'node_modules', '@org', 'cpu-prof'))
  assert.ok(!installed.some((file) => file.endsWith('.node')))

  fs.cpSync(FIXTURES, path.join(stranger, 'fixtures'), { recursive: true })
  const main = path.join(stranger, 'fixtures', 'ending.js')
  const required = await run([main], { preload: ['--require', '@org/cpu-prof'], cwd: stranger })
  assert.equal(required.stderr, '')
  assert.equal(required.traces.length, 1)
  const registered = await run([main], {
    preload: ['--require', '@org/cpu-prof/register'],
    cwd: stranger,
  })
  assert.equal(registered.traces.length, 2)
})
