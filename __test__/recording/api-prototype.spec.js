'use strict'

// A program that adds to Object.prototype changes no setting and no option.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

const PROGRAM = `
const prof = require(${JSON.stringify(PACKAGE)})
const added = {
  // Of a recording and of its events.
  dir: 'elsewhere', name: 'other', interval: 1e5, workers: false, label: 'other', track: 'other',
  // Of the tools.
  from: 1e6, focus: 'nothing', sourceMaps: 5, top: -1, function: 'nothing', failOn: 'total>0%',
  names: { other: 'missing' }, exit: { pid: 1 }, code: 'no',
}
async function main() {
  Object.assign(Object.prototype, added)
  const files = []
  for (const options of [{}, undefined]) {
    prof.start(options)
    prof.instant('mark', { color: 'error' })
    files.push(...prof.stop().files)
  }
  const { recording } = await prof.profile(() => {}, {})
  files.push(...recording.files)
  const merged = await prof.merge(files, 'merged.json', { exit: { pid: process.pid } })
  const report = await prof.report(files, {})
  const converted = await prof.convert(files, 'all.txt', {})
  const { rules } = await prof.compare(files[0], files[1], {})
  const { files: checked } = await prof.check(files)
  for (const name of Object.keys(added)) delete Object.prototype[name]
  console.log(JSON.stringify({
    files, merged: merged.files, threads: report.processes[0].threads.length,
    details: report.details, converted: converted.files, rules, checked: checked.length,
  }))
}
main()`

test('values of Object.prototype are no settings and no options', async () => {
  const cwd = temporaryDirectory()
  const main = path.join(cwd, 'main.js')
  fs.writeFileSync(main, PROGRAM)
  const { code, stderr, stdout } = await run([main], { cwd, preload: null, read: 0 })
  assert.equal(code, 0, stderr)
  const { files, merged, converted, ...rest } = JSON.parse(stdout)
  for (const file of files) {
    assert.match(path.relative(cwd, file), /^CPU\.\d+\.\d+\.\d+\.0\.00\d\.trace\.json$/)
    const trace = fs.readFileSync(file, 'utf8')
    assert.equal(JSON.parse(trace).metadata['cpu-prof'].intervalUs, 1000)
    assert.ok(!trace.includes('other'), file)
  }
  assert.deepEqual([merged, converted], [['merged.json'], [path.join(cwd, 'all.txt')]])
  assert.deepEqual(rest, { threads: 1, rules: [], checked: 3 })
})
