'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

const SPIN = JSON.stringify(path.join(FIXTURES, 'spin.js'))

/** Links the package under a path with spaces and quotes; returns NODE_OPTIONS that preload it. */
function spacedOptions() {
  const link = path.join(temporaryDirectory('cpu prof '), 'the "package"')
  fs.symlinkSync(PACKAGE, link)
  return `--require ${JSON.stringify(link)}`
}

test('NODE_OPTIONS records every child process, however it is started', async () => {
  const child = `require(${SPIN}).spin(100)`
  const source = `
    const { execFileSync, execSync, fork, spawnSync } = require('node:child_process')
    const code = ${JSON.stringify(child)}
    spawnSync(process.execPath, ['-e', code])
    execFileSync(process.execPath, ['-e', code])
    execSync('"' + process.execPath + '" -e "0" && true')
    fork(process.argv[1], ['child'])
  `
  const dir = temporaryDirectory('cpu prof ')
  const file = path.join(dir, 'parent.js')
  fs.writeFileSync(file, `if (process.argv[2] === 'child') { ${child} } else { ${source} }`)
  const result = await run([file], {
    preload: null,
    cwd: dir,
    env: { NODE_OPTIONS: spacedOptions() },
  })
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.stderr, '')
  assert.equal(result.traces.length, 5)
  assert.equal(new Set(result.traces.map((trace) => trace.pid)).size, 5)
  for (const trace of result.traces) {
    assert.ok(trace.ended)
    if (trace.pid !== result.pid) assert.notEqual(trace.metadata.ppid, process.pid)
  }
  const [parent] = result.traces.filter((trace) => trace.pid === result.pid)
  const children = result.traces.filter((trace) => trace.metadata.ppid === parent.pid)
  assert.ok(children.length >= 3)
})

test('children in other directories write to CPU_PROF_DIR', async () => {
  const dir = temporaryDirectory()
  const other = temporaryDirectory()
  const code = `
    process.chdir(${JSON.stringify(other)})
    require('node:child_process').spawnSync(process.execPath, ['-e', '0'])
  `
  const absolute = path.join(dir, 'made', 'for it')
  const result = await run(['-e', code], {
    preload: null,
    cwd: dir,
    env: { NODE_OPTIONS: `--require ${JSON.stringify(PACKAGE)}`, CPU_PROF_DIR: absolute },
  })
  assert.equal(result.traces.length, 2)
  assert.deepEqual(fs.readdirSync(other), [])
})
