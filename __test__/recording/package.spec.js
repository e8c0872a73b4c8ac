'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, cleanEnv, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

/** Runs npm. @param {string[]} args @param {string} cwd @returns its stdout */
function npm(args, cwd) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  assert.equal(status, 0, `npm ${args.join(' ')}: ${stderr}`)
  return stdout
}

test('the packed packages work when installed in an empty folder', async () => {
  const platform = path.join(temporaryDirectory(), 'platform')
  fs.cpSync(path.join(PACKAGE, 'npm', 'linux-x64-gnu'), platform, { recursive: true })
  for (const addon of ['cpu-prof.linux-x64-gnu.node', 'cpu-prof-tools.linux-x64-gnu.node']) {
    fs.copyFileSync(path.join(PACKAGE, addon), path.join(platform, addon))
  }

  const project = temporaryDirectory()
  const { dependencies } = require('../../package.json')
  const names = new Set(Object.keys(dependencies))
  const folderOf = (/** @type {string} */ name) => path.join(PACKAGE, 'node_modules', name)
  // The libraries of libraries are added while the loop goes on.
  for (const name of names) {
    const ofLibrary = require(path.join(folderOf(name), 'package.json')).dependencies ?? {}
    for (const other of Object.keys(ofLibrary)) names.add(other)
  }
  const libraries = [...names].map(folderOf)
  const tarballs = [PACKAGE, platform, ...libraries].map((dir) => {
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', project]
    return `./${JSON.parse(npm(pack, dir))[0].filename}`
  })
  fs.writeFileSync(path.join(project, 'package.json'), '{}')
  // An empty cache: packages that an earlier install left in npm's cache must not be used.
  const cache = `--cache=${temporaryDirectory()}`
  npm(['install', '--offline', '--no-audit', cache, ...tarballs], project)
  const installed = fs.readdirSync(path.join(project, 'node_modules', '@org', 'cpu-prof'))
  assert.ok(!installed.some((file) => file.endsWith('.node')))

  fs.cpSync(FIXTURES, path.join(project, 'fixtures'), { recursive: true })
  const main = path.join(project, 'fixtures', 'ending.js')
  const required = await run([main], { preload: ['--require', '@org/cpu-prof'], cwd: project })
  assert.equal(required.stderr, '')
  assert.equal(required.traces.length, 1)
  const registered = await run([main], {
    preload: ['--require', '@org/cpu-prof/register'],
    cwd: project,
  })
  assert.equal(registered.traces.length, 2)

  const bin = path.join('node_modules', '.bin', 'cpu-prof')
  const options = { cwd: project, env: cleanEnv(), encoding: /** @type {const} */ ('utf8') }
  const { status, stderr } = spawnSync(bin, ['run', 'node', main], options)
  assert.equal(status, 0, stderr)
  assert.match(stderr, /\ntrace: profiles\/\S+\/trace\.json \(.* 1 process, 1 thread\)\n/)
})
