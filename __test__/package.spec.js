'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, cleanEnv, temporaryDirectory, FIXTURES, PACKAGE } = require('./helpers/run.js')

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
  const { dependencies } = require('../package.json')
  const libraries = Object.keys(dependencies).map((name) =>
    path.join(PACKAGE, 'node_modules', name),
  )
  const tarballs = [PACKAGE, platform, ...libraries].map((dir) => {
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', stranger]
    return `./${JSON.parse(npm(pack, dir))[0].filename}`
  })
  fs.writeFileSync(path.join(stranger, 'package.json'), '{}')
  // Nothing but these: what an earlier install has left in npm's cache must not help.
  const cache = `--cache=${temporaryDirectory()}`
  npm(['install', '--offline', '--no-audit', cache, ...tarballs], stranger)
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

  const bin = path.join('node_modules', '.bin', 'cpu-prof')
  const options = { cwd: stranger, env: cleanEnv(), encoding: /** @type {const} */ ('utf8') }
  const { status, stderr } = spawnSync(bin, ['run', 'node', main], options)
  assert.equal(status, 0, stderr)
  assert.match(stderr, /\ntrace: profiles\/\S+\/trace\.json \(.* 1 process, 1 thread\)\n/)
})
