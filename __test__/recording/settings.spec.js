'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { messages, pattern } = require('../helpers/messages.js')
const { run, cleanEnv, temporaryDirectory, tracesIn, PACKAGE } = require('../helpers/run.js')

for (const [name, value] of [
  ['CPU_PROF_INTERVAL', 'fast'],
  ['CPU_PROF_FLUSH_INTERVAL', '-1'],
  ['CPU_PROF_NAME', 'folder/..'],
  ['CPU_PROF_INTERVAL', '0'],
  ['CPU_PROF_NAME', '%Q'],
  ['CPU_PROF_FORMAT', 'pprof'],
  ['CPU_PROF_SOURCE', 'dtrace'],
  ['CPU_PROF_IGNORE_LIST', 'perhaps'],
]) {
  test(`${name}=${value} stops the program before its first line`, async () => {
    const result = await run(['-e', 'console.log("ran")'], { env: { [name]: value } })
    assert.equal(result.code, 9)
    assert.equal(result.stdout, '')
    assert.equal(result.stderr.split('\n').length, 2, result.stderr)
    assert.ok(result.stderr.startsWith(`cpu-prof: ${name}=${value} is not valid: `), result.stderr)
    assert.deepEqual(result.files, [])
  })
}

test('files have the name and the directory of the settings', async () => {
  const { traces, cwd, pid } = await run(['ending.js', 'natural', '10'], {
    env: { CPU_PROF_DIR: 'a b/c', CPU_PROF_NAME: 'x-%P-%T-%%-%N' },
  })
  assert.equal(traces[0].file, path.join(cwd, `a b/c/x-${pid}-0-%-001.trace.json`))
})

test('a working directory whose name is not UTF-8 gets the trace', () => {
  const dir = temporaryDirectory()
  const script = `d=$(printf 'b\\377d'); mkdir "$d" && cd "$d" && exec "$0" --require "$1" -e 0`
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, PACKAGE], {
    cwd: dir,
    env: cleanEnv(),
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  const [made, ...others] = fs.readdirSync(Buffer.from(dir), 'buffer')
  assert.deepEqual(others, [])
  const inside = Buffer.concat([Buffer.from(`${dir}/`), made])
  assert.equal(fs.readdirSync(inside).length, 1)
})

test('the sequence number counts across threads', async () => {
  const source = `
    const { Worker } = require('node:worker_threads')
    for (let i = 0; i < 2; i++) new Worker('0', { eval: true })`
  const { files } = await run(['-e', source], { env: { CPU_PROF_NAME: '%N' } })
  assert.deepEqual(files.map((file) => path.basename(file)).sort(), [
    '001.trace.json',
    '002.trace.json',
    '003.trace.json',
  ])
})

test('an existing file or link is not overwritten, and the next number is used', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, '001.trace.json'), 'mine')
  fs.symlinkSync(path.join(cwd, 'target'), path.join(cwd, '002.trace.json'))
  const child = await runIn(cwd, '%N')
  assert.equal(child.code, 0)
  assert.equal(fs.readFileSync(path.join(cwd, '001.trace.json'), 'utf8'), 'mine')
  assert.ok(!fs.existsSync(path.join(cwd, 'target')))
  assert.ok(fs.existsSync(path.join(cwd, '003.trace.json')))
})

test('a name without a number gets a number if the file exists', async () => {
  const cwd = temporaryDirectory()
  for (const count of [1, 2, 3]) {
    assert.equal((await runIn(cwd, 'fixed')).code, 0)
    assert.equal(tracesIn(cwd).length, count)
  }
  assert.ok(fs.existsSync(path.join(cwd, 'fixed.trace.json')))
})

test('with a smaller interval samples follow each other faster', async () => {
  const medianUs = async (/** @type {string} */ interval) => {
    const { traces } = await run(['ending.js'], { env: { CPU_PROF_INTERVAL: interval } })
    assert.equal(traces[0].metadata.intervalUs, Number(interval))
    const times = traces[0].samples.map(({ us }) => us).sort((a, b) => a - b)
    return times[times.length >> 1]
  }
  const [fine, coarse] = await Promise.all(['200', '10000'].map(medianUs))
  assert.ok(2 * fine < coarse, `${fine} and ${coarse} µs`)
})

test('a directory that cannot be made: one line on stderr, and the program runs', async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'file'), '')
  const { code, stdout, stderr } = await run(['-e', 'console.log("ran")'], {
    cwd,
    env: { CPU_PROF_DIR: 'file/sub' },
  })
  assert.equal(code, 0)
  assert.equal(stdout, 'ran\n')
  assert.match(stderr, pattern`^cpu-prof: ${messages.notCreated} .*; ${messages.runsOn}.*\n$`)
})

test('node_modules frames are foldable for an application, and shown for a tool', async () => {
  const cwd = temporaryDirectory()
  const tool = path.join(cwd, 'node_modules', 'tool')
  fs.mkdirSync(path.join(cwd, 'node_modules', '.bin'), { recursive: true })
  fs.mkdirSync(tool)
  fs.copyFileSync(require.resolve('../fixtures/spin.js'), path.join(tool, 'index.js'))
  fs.writeFileSync(path.join(tool, 'bin.js'), `require('./index.js').spin()`)
  fs.symlinkSync('../tool/bin.js', path.join(cwd, 'node_modules', '.bin', 'tool'))
  fs.writeFileSync(path.join(cwd, 'app.js'), `require('tool').spin()`)

  const spinUrl = async (/** @type {string} */ main, ignoreList = '') => {
    const dir = temporaryDirectory()
    const { traces } = await run([path.join(cwd, main)], {
      cwd,
      env: { CPU_PROF_DIR: dir, CPU_PROF_IGNORE_LIST: ignoreList },
    })
    const node = [...traces[0].nodes.values()].find(
      (node) => node.callFrame.functionName === 'spin',
    )
    assert.ok(node, `spin() is not in the trace of ${main}`)
    return node.callFrame.url
  }
  const foldable = `file://${tool}/index.js`
  const shown = `file://${cwd}/node_modules\\tool/index.js`
  const urls = [
    spinUrl('app.js'),
    spinUrl('app.js', 'show'),
    spinUrl('node_modules/.bin/tool'),
    spinUrl('node_modules/.bin/tool', 'keep'),
  ]
  assert.deepEqual(await Promise.all(urls), [foldable, shown, shown, foldable])
})

/** Runs Node in a directory that also contains other files. @param {string} cwd @param {string} name */
function runIn(cwd, name) {
  const { status, stderr } = spawnSync(process.execPath, ['--require', PACKAGE, '-e', '0'], {
    cwd,
    env: { ...cleanEnv(), CPU_PROF_NAME: name },
    encoding: 'utf8',
  })
  return { code: status, stderr }
}
