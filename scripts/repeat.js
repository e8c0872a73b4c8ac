'use strict'

// Judges the spec files that failed: runs each again three times, alone, and tells which are unstable.
// A file that fails again, or more than three unstable files, are a failure. SPEC_FAILURES names the
// file in which scripts/specs.js noted them.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { readFailures } = require('./specs/failures.js')
const { judge, MOST_UNSTABLE } = require('./specs/judge.js')

const SPECS = path.join(__dirname, 'specs.js')

/** Runs a spec file once, as it ran when it failed. @param {import('./specs/failures.js').Failure} failure */
function runsThrough({ file, node, source }) {
  const options = source === undefined ? [] : [`--source=${source}`]
  const env = { ...process.env, SPEC_FAILURES: '' }
  const { status } = spawnSync(node, [SPECS, ...options, file], { stdio: 'inherit', env })
  return status === 0
}

const { unstable, broken, isTooMany } = judge(readFailures(), runsThrough)
const lines = [
  ...unstable.map((line) => `unstable: ${line}`),
  ...broken.map((line) => `failed: ${line}`),
  ...(isTooMany ? [`failed: more than ${MOST_UNSTABLE} spec files failed at first`] : []),
]
const text = `${lines.length > 0 ? lines.join('\n') : 'no spec failed'}\n`
process.stdout.write(text)
const [verdict] = process.argv.slice(2)
if (verdict !== undefined) fs.writeFileSync(verdict, text)
if (broken.length > 0 || isTooMany) process.exitCode = 1
