'use strict'

// Looks for secrets in all that the tools make of recordings.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const { cli } = require('./cli.js')
const { temporaryDirectory } = require('./files.js')
const { CONVERTED } = require('./formats.js')

/** Each secret of a program has it, and nothing else. */
const SECRET = 'hunter2'

/** Fails if a text has a secret. @param {string} what @param {string} text */
function assertClean(what, text) {
  const at = text.indexOf(SECRET)
  const around = text.slice(Math.max(0, at - 300), at + 100)
  assert.ok(at === -1, `${what} has a secret: …${around}`)
}

/** Returns the text of a file, of its parts too if it is compressed. @param {string} file */
function textOf(file) {
  const bytes = fs.readFileSync(file)
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  return (isGzip ? zlib.gunzipSync(bytes) : bytes).toString('latin1')
}

/** Lists the files of a folder and of those in it. @param {string} dir @returns {string[]} */
function filesIn(dir) {
  const entries = fs.readdirSync(dir, { withFileTypes: true })
  return entries.flatMap((entry) => {
    const file = path.join(dir, entry.name)
    return entry.isDirectory() ? filesIn(file) : [file]
  })
}

/** Runs each tool on recordings, and looks at all that it prints and writes. @param {string} dir */
async function assertToolsClean(dir) {
  const cwd = temporaryDirectory()
  for (const args of [
    ['report', dir, '--top', '50'],
    ['report', dir, '--json'],
    ['report', dir, '--html', 'page.html'],
    ['report', dir, '--by', 'label:http'],
    ['merge', dir, '-o', 'merged.json'],
    ['report', 'merged.json', '--json'],
    ['merge', 'merged.json', '-o', 'again.json.gz'],
    ...CONVERTED.map((ending) => ['convert', 'merged.json', '-o', `out${ending}`]),
    ['compare', dir, 'merged.json'],
    ['check', dir, 'merged.json'],
    ['lake', 'add', dir, '--to', 'lake'],
  ]) {
    const { code, stdout, stderr } = await cli(args, { cwd })
    assert.equal(code, 0, stderr)
    assertClean(args.join(' '), stdout + stderr)
  }
  const made = filesIn(cwd)
  for (const file of ['page.html', 'merged.json', 'again.json.gz']) {
    assert.ok(made.includes(path.join(cwd, file)), `${file} was written`)
  }
  for (const ending of CONVERTED) {
    const isOf = (/** @type {string} */ file) => file.startsWith('out') && file.endsWith(ending)
    assert.ok(made.map((file) => path.basename(file)).some(isOf), `${ending} was written`)
  }
  for (const file of made) assertClean(file, textOf(file))
}

module.exports = { assertClean, assertToolsClean, filesIn, textOf }
