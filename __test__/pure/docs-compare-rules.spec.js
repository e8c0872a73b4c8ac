'use strict'

// The rules of `compare --fail-on`: what the documentation names can be a rule, and it names all.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { NAMED, TOTALS, parseRule } = require('../../lib/compare-rules.js')
const { PACKAGE } = require('../helpers/files.js')
const { codeSpans } = require('../helpers/pages.js')

const KNOWN = [...TOTALS.keys(), ...NAMED.keys()]
/** Where the rules are, by page. @type {Record<string, RegExp>} */
const PLACES = {
  'docs/commands/compare.md': /^## Rules\n.*?(?=^## )/ms,
  'index.d.ts': /How much more head may need.*?(?=\*\/)/s,
}

/** Returns a line for each rule that is none, and for each kind that is missing. @param {string} text */
function problemsIn(text) {
  const rules = codeSpans(text).filter((span) => /^\w+(:|>|:.*>)/.test(span))
  const named = new Set(rules.map((rule) => rule.split(/[:>]/)[0]))
  const isRule = (/** @type {string} */ rule) => {
    try {
      return parseRule(rule.endsWith(':') ? `${rule}name>5%` : rule, false)
    } catch {
      return false
    }
  }
  return [
    ...rules.filter((rule) => !isRule(rule)).map((rule) => `${rule} is not a rule`),
    ...KNOWN.filter((name) => !named.has(name)).map((name) => `${name} is missing`),
  ]
}

for (const [page, place] of Object.entries(PLACES)) {
  const [text] = place.exec(fs.readFileSync(path.join(PACKAGE, page), 'utf8')) ?? []
  test(`${page} names the rules that there are`, () => {
    assert.ok(text)
    assert.deepEqual(problemsIn(text), [])
  })

  test(`what ${page} names wrongly is found`, () => {
    const changed = String(text)
      .replace('`gc>', '`garbage>')
      .replace(/`loader:/, '`loaders:')
    assert.deepEqual(
      problemsIn(changed).map((problem) => problem.replace(/>\S*|:\S*/, '')),
      ['garbage is not a rule', 'loaders is not a rule', 'gc is missing', 'loader is missing'],
    )
  })
}
