'use strict'

// package-lock.json fits every system and every npm: `npm ci` installs from it, and `npm install` leaves
// it as it is.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PACKAGE } = require('../helpers/files.js')

/** A package of a lock file. @typedef {Record<string, any>} Locked */

const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies']
/** Writes the file as npm 9 to 11 leave it. */
const MEND = 'npx npm@10 install --package-lock-only'

/** @param {string} name */
const readJson = (name) => JSON.parse(fs.readFileSync(path.join(PACKAGE, name), 'utf8'))

/** Returns what `npm ci` refuses or `npm install` changes. @param {Record<string, Locked>} packages @param {Record<string, Locked>} manifests each package.json, by its folder */
function problemsOf(packages, manifests) {
  const problems = Object.entries(manifests).flatMap(([folder, manifest]) =>
    DEPENDENCIES.filter(
      (kind) => JSON.stringify(packages[folder]?.[kind]) !== JSON.stringify(manifest[kind]),
    ).map((kind) => `${kind} of ${path.posix.join(folder, 'package.json')} differ`),
  )
  for (const [place, locked] of Object.entries(packages)) {
    for (const name of DEPENDENCIES.flatMap((kind) => Object.keys(locked[kind] ?? {}))) {
      if (!isFound(packages, place, name)) problems.push(`${place} needs ${name}`)
    }
    // The first is of one registry; npm 10 removes the second.
    for (const field of ['resolved', 'libc']) {
      if (field in locked && !locked.link) problems.push(`${place} has ${field}`)
    }
  }
  return problems
}

/** Returns whether a package is found from a place, as Node does it. @param {Record<string, Locked>} packages @param {string} place @param {string} name */
function isFound(packages, place, name) {
  for (let at = place; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    if (`${at === '' ? '' : `${at}/`}node_modules/${name}` in packages) return true
    if (at === '') return false
  }
}

test('the lock file lists the packages of all systems, and nothing that an npm removes', () => {
  const { packages } = readJson('package-lock.json')
  const own = Object.keys(packages).filter((place) => !place.includes('node_modules'))
  assert.deepEqual(own.sort(), [
    '',
    ...fs.readdirSync(path.join(PACKAGE, 'packages')).map((name) => `packages/${name}`),
  ])
  const manifests = own.map((folder) => [folder, readJson(path.join(folder, 'package.json'))])
  const problems = problemsOf(packages, Object.fromEntries(manifests))
  assert.deepEqual(problems, [], `package-lock.json must be written again: ${MEND}`)
  assert.match(
    fs.readFileSync(path.join(PACKAGE, '.npmrc'), 'utf8'),
    /^omit-lockfile-registry-resolved=true$/m,
  )
})

test('a lock file that fits only the system where it was written is noticed', () => {
  const manifest = { devDependencies: { rollup: '4.0.0' } }
  const packages = {
    '': manifest,
    'node_modules/rollup': { optionalDependencies: { '@rollup/linux': '*', '@rollup/win32': '*' } },
    'node_modules/rollup/node_modules/@rollup/linux': { libc: ['glibc'] },
  }
  assert.deepEqual(problemsOf(packages, { '': { devDependencies: { rollup: '4.1.0' } } }), [
    'devDependencies of package.json differ',
    'node_modules/rollup needs @rollup/win32',
    'node_modules/rollup/node_modules/@rollup/linux has libc',
  ])
})
