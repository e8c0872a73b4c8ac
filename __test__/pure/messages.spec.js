'use strict'

// A message stands in one place of the specs: in the spec of its feature, or in helpers/messages.js.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PACKAGE } = require('../helpers/files.js')
const { messages, pattern } = require('../helpers/messages.js')
const { findQuotes } = require('../helpers/quotes.js')

/** @typedef {import('../helpers/quotes.js').Sources} Sources */

/** Reads the files of folders. @param {string[]} folders @param {RegExp} name @returns {Sources} */
function read(folders, name) {
  const files = folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(PACKAGE, folder), { recursive: true })
      .map((file) => path.posix.join(folder, String(file).replaceAll(path.sep, '/'))),
  )
  return Object.fromEntries(
    files
      .filter((file) => name.test(file))
      .map((file) => [file, fs.readFileSync(path.join(PACKAGE, file), 'utf8')]),
  )
}

/**
 * Returns a line for each message that several specs quote, or several helpers.
 * @param {Sources} product @param {Sources} files of the specs
 */
function scattered(product, files) {
  return findQuotes(product, files).flatMap(({ file, runs, quotes }) => {
    const quoting = [...quotes.keys()]
    const helpers = quoting.filter((name) => name.includes('/helpers/'))
    if (helpers.length < 2 && quoting.length - helpers.length < 2) return []
    const words = runs.map((run) => run.join(' ')).join(' … ')
    const places = [...quotes].map(([name, quote]) => `${name}: "${quote}"`)
    return [`${file} says "${words}"; ${places.join(', ')}`]
  })
}

const SPECS = read(['__test__', 'packages'], /(^|\/)__test__(\/.*)?(\.spec|\/helpers\/[^/]+)\.js$/)

test('a message stands in one spec, and what several specs look for in a helper', () => {
  const product = read(['bin', 'cli', 'lib', 'packages', 'src'], /^(?!.*__test__).*\.(js|rs)$/)
  assert.deepEqual(scattered(product, SPECS), [])
})

test('each message of the helper is looked for', () => {
  const texts = Object.values(SPECS).join('\n')
  for (const name of Object.keys(messages)) {
    assert.match(texts, pattern`\bmessages\.${name}\b`)
  }
})

test('the check finds a message in two specs, however it is written', () => {
  const product = {
    'src/a/mod.rs': '#[cfg(test)]\nmod made;\n/// "Nothing but a comment in two specs"\nfn a() {}',
    'src/a/b.rs':
      'fn f() { at(\'"\'); say("the lake has no \\\n  room for {name}: empty it, or take another") }\n' +
      '#[cfg(test)]\nmod tests { const A: &str = "words of a test that nobody prints"; }',
    'src/a/made.rs': 'const A: &str = "words of a test that nobody prints";',
    'cli/a.js': `fail(\`\${file} was not \` + 'read, because it is older than the lake')`,
    'cli/b.js':
      "say('certificates without authority', 'SELECT name FROM rows WHERE name IS NOT NULL')",
  }
  const others = [
    "test('the lake has no room for it', () => {})",
    "query('SELECT name FROM rows WHERE name IS NOT NULL')",
    "is('certificates without authority', 'because it is older')",
    "check('words of a test that nobody prints', 'Nothing but a comment in two specs')",
  ].join('\n')
  const quoting = (/** @type {string[]} */ ...quotes) =>
    scattered(product, {
      '__test__/pure/a.spec.js': others,
      '__test__/pure/b.spec.js': others,
      ...Object.fromEntries(quotes.map((quote, i) => [`__test__/pure/${i}.spec.js`, quote])),
    })
  const room = ["is('the lake has no room for a: empty it')", 'match(/^the lake has no room for /)']
  assert.deepEqual(quoting(), [])
  assert.deepEqual(quoting(room[0]), [])
  assert.deepEqual(quoting(...room), [
    'src/a/b.rs says "the lake has no room for … empty it or take another"; ' +
      '__test__/pure/0.spec.js: "the lake has no room for", ' +
      '__test__/pure/1.spec.js: "the lake has no room for"',
  ])
  const old = [
    'match(/a\\.json was not read, because it is older .*/)',
    `is(\`\${a} was not read, because it is\`)`,
  ]
  for (const [first, second] of [
    old,
    [old[0], "is('it is older ' + 'than the lake')"],
    [old[1], 'match(pattern`\\sbecause it is older than (the|a)`)'],
  ]) {
    assert.equal(quoting(first, second).length, 1, second)
    assert.match(quoting(first, second)[0], /^cli\/a\.js says /)
  }
  // Different messages, and words that are too few or too short.
  assert.deepEqual(quoting(room[0], old[0]), [])
  assert.deepEqual(quoting(old[0], "is('because it is old', 'the lake has no')"), [])
  // A helper may have what one spec has, and no second helper.
  const helpers = { '__test__/helpers/a.js': room[0], '__test__/helpers/b.js': room[1] }
  assert.equal(scattered(product, helpers).length, 1)
  assert.deepEqual(
    scattered(product, { '__test__/helpers/a.js': room[0], '__test__/pure/a.spec.js': room[1] }),
    [],
  )
})
