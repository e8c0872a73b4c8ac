'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, temporaryDirectory, PACKAGE } = require('../helpers/run.js')

/** Makes a project with the package in its node_modules. */
function project() {
  const dir = temporaryDirectory()
  const scope = path.join(dir, 'node_modules', '@org')
  fs.mkdirSync(scope, { recursive: true })
  fs.symlinkSync(PACKAGE, path.join(scope, 'cpu-prof'))
  return dir
}

const USE = `
  start()
  console.log(isRecording(), stop().files.length)
  profile(() => 7).then(({ result }) => console.log(result))
`

for (const [how, file, source] of [
  ['require', 'main.cjs', "const { start, stop, profile, isRecording } = require('@org/cpu-prof')"],
  ['import', 'main.mjs', "import { start, stop, profile, isRecording } from '@org/cpu-prof'"],
  [
    'a default import',
    'default.mjs',
    "import cpuProf from '@org/cpu-prof'; const { start, stop, profile, isRecording } = cpuProf",
  ],
]) {
  test(`${how} returns the functions, and does not start a recording`, async () => {
    const cwd = project()
    fs.writeFileSync(path.join(cwd, file), `${source}\nconsole.log(isRecording())\n${USE}`)
    const { stdout, stderr, code } = await run([path.join(cwd, file)], { preload: null, cwd })
    assert.equal(stderr, '')
    assert.equal(code, 0)
    assert.equal(stdout, 'false\ntrue 1\n7\n')
  })
}
