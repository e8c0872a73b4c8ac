'use strict'

// The versions of Node that are tested, and the pages, manifests and workflows that name them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PACKAGE } = require('../helpers/files.js')
const { VERSIONS } = require('../../scripts/matrix.js')

const WORKFLOWS = '.github/workflows'

/** Returns what files have to say about versions, by file. @param {number[]} versions @returns {Record<string, string[]>} */
function textsOf(versions) {
  const [oldest] = versions
  const newest = versions[versions.length - 1]
  const range = `Node ${oldest} to ${newest}`
  const all = versions.join(', ').replace(/, (\d+)$/, ' and $1')
  return {
    'README.md': [range],
    'CHANGELOG.md': [range],
    'docs/platforms.md': [range, `Node ${all}.`],
    'CONTRIBUTING.md': [`Node (${oldest} or later)`, `Node ${oldest} and later`],
    'package.json': [`"node": ">=${oldest}"`, `"@types/node": "${oldest}.`],
    [`${WORKFLOWS}/build.yml`]: [
      `node: [${oldest}, ${newest}]\n`,
      ...versions
        .slice(1, -1)
        .map((each) => `{ target: linux-x64-gnu, runner: ubuntu-24.04, node: ${each} }`),
    ],
    [`${WORKFLOWS}/weekly.yml`]: [`node: [${newest + 1}-nightly, ${newest + 1}-v8-canary]`],
  }
}

/** Returns a line for each text that is missing. @param {number[]} versions */
function missingTexts(versions) {
  return Object.entries(textsOf(versions)).flatMap(([file, texts]) => {
    const found = read(file)
    return texts.filter((text) => !found.includes(text)).map((text) => `${file}: ${text}`)
  })
}

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

test('pages, manifests and workflows name the versions of the matrix', () => {
  assert.deepEqual(missingTexts(VERSIONS), [])
})

test('a version that they do not name is found', () => {
  for (const versions of [VERSIONS.slice(1), [...VERSIONS, 28]]) {
    const files = new Set(missingTexts(versions).map((line) => line.split(': ')[0]))
    assert.ok(files.size >= 5, [...files].join(', '))
    for (const file of ['README.md', 'CHANGELOG.md', 'docs/platforms.md'])
      assert.ok(files.has(file))
    assert.ok(files.has(`${WORKFLOWS}/build.yml`))
  }
})

test('workflows use versions of the matrix', () => {
  const files = fs.readdirSync(path.join(PACKAGE, WORKFLOWS))
  const texts = files.map((file) => read(`${WORKFLOWS}/${file}`))
  const used = texts.flatMap((text) => [...text.matchAll(/node(?:-version)?: (\d+)\b/g)])
  assert.ok(used.length > 5)
  for (const [line, version] of used) assert.ok(VERSIONS.includes(Number(version)), line)
})
