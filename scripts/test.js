'use strict'

// Runs the spec files on one Node: this one, or the one named by the first argument.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const [node = process.execPath, ...only] = process.argv.slice(2)
const dir = path.join(__dirname, '..', '__test__')
const specs = fs
  .readdirSync(dir)
  .filter((file) => file.endsWith('.spec.js'))
  .filter((file) => only.length === 0 || only.some((name) => file.startsWith(name)))
  .map((file) => path.join(dir, file))
const { status } = spawnSync(node, ['--test', ...specs], { stdio: 'inherit' })
process.exitCode = status ?? 1
