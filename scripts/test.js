'use strict'

// Runs the spec files on one Node: this one, or the one named by the first argument. The others
// choose among the files by the beginnings of their names, `--without` leaves some out, and
// `--source=inspector` has all recordings use that source.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')

/** What reads recordings is the same wherever their samples came from. */
const READERS = ['cli', 'convert', 'merge', 'monorepo', 'report', 'speedscope']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string' },
    without: { type: 'string', multiple: true, default: [] },
  },
})
const { source, without = [] } = values
if (source !== undefined) without.push(...READERS)
const [node = process.execPath, ...only] = positionals
const dir = path.join(__dirname, '..', '__test__')
const specs = fs
  .readdirSync(dir)
  .filter((file) => file.endsWith('.spec.js'))
  .filter((file) => only.length === 0 || only.some((name) => file.startsWith(name)))
  .filter((file) => !without.some((name) => file.startsWith(name)))
  .map((file) => path.join(dir, file))
const env = source === undefined ? process.env : { ...process.env, SPEC_SOURCE: source }
const { status } = spawnSync(node, ['--test', ...specs], { stdio: 'inherit', env })
process.exitCode = status ?? 1
