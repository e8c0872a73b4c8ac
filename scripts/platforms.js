'use strict'

// Builds targets, and runs the smoke suite of each, from the packed packages alone:
// `node scripts/platforms.js linux-x64-musl win32-x64`. Other systems are emulated: qemu, Wine, another
// loader. `--build` only builds, and `--built` takes the addons that are in the root. `--native` runs the suite with the Node of
// this script and the addons in the root, for a target that is this machine. Without a target: all that
// can be built here. docs/platforms.md has the results.

const fs = require('node:fs')
const { parseArgs } = require('node:util')
const { build, install } = require('./build.js')
const { inspect } = require('./inspect.js')
const { crossBuild } = require('./platforms/cross.js')
const { NATIVE, machinesOf } = require('./platforms/machines.js')
const { createProject } = require('./platforms/project.js')
const { smoke } = require('./platforms/smoke.js')
const { TARGETS, targetOf } = require('./targets.js')

/** Builds a target, and checks the addons. Returns what is wrong with them. @param {string} target */
function buildAndInspect(target) {
  install(build(crossBuild(target)), target)
  const { report, problems } = inspect(target)
  for (const line of report) console.log(`  ${line}`)
  for (const line of problems) console.log(`  FAILED: ${line}`)
  return problems
}

/** Runs the suite of a target. Returns the number of failed checks. @param {string} target @param {boolean} isNative */
function runSuite(target, isNative) {
  const machines = isNative ? [NATIVE] : machinesOf(target)
  if (machines.length === 0) console.log('  not run: nothing here runs this target')
  let failed = 0
  for (const machine of machines) {
    console.log(`${target}: ${machine.name}`)
    const project = createProject(target)
    failed += smoke(machine, project, targetOf(target))
    fs.rmSync(project, { recursive: true, force: true, maxRetries: 5 })
  }
  return failed
}

function main() {
  const options = /** @type {const} */ ({
    native: { type: 'boolean', default: false },
    build: { type: 'boolean', default: false },
    built: { type: 'boolean', default: false },
  })
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const targets = positionals.length > 0 ? positionals : Object.keys(TARGETS)
  /** @type {string[]} */
  const failed = []
  for (const target of targets) {
    console.log(`${target}: ${targetOf(target).title}`)
    const problems = values.native || values.built ? [] : buildAndInspect(target)
    const failures = values.build ? 0 : runSuite(target, values.native)
    if (failures > 0 || problems.length > 0) failed.push(target)
  }
  console.log(failed.length === 0 ? 'no target failed' : `failed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

main()
