'use strict'

// The pages of top, trend and compare: whole, offline, and harmless whatever the names are.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { temporaryDirectory } = require('../../../../__test__/helpers/files.js')
const { madeRuns, writeLake } = require('../helpers/lakes.js')
const { messages, pattern } = require('../../../../__test__/helpers/messages.js')

const HOSTILE = '</title><script>alert(1)</script>"\' onload=x \u202e\u001b[2J&amp;'

/** Characters that would control a terminal, or change the direction of text. */
const CONTROLS = new RegExp(['\u202e', '\u001b'].join('|'))

/** Returns a lake whose names are hostile. */
function hostileLake() {
  const runs = madeRuns({ commits: 6, runs: 5, step: 4 })
  for (const run of runs) {
    Object.assign(run, { repo: HOSTILE, branch: HOSTILE, host: HOSTILE, job: HOSTILE })
    run.commit = `${run.commit}${HOSTILE}`
    Object.assign(run.functions[1], { function: HOSTILE, file: HOSTILE, package: HOSTILE })
    run.groups = [
      { kind: 'owner', sort: 'rule', name: HOSTILE, self: run.functions[1].self },
      { kind: 'label', sort: 'k', name: HOSTILE, self: run.functions[1].self },
    ]
  }
  return writeLake(runs, { compacted: true })
}

/** Each question, with the words that choose hostile names. @type {[string, ...string[]][]} */
const QUESTIONS = [
  ['top'],
  ['top', '--by', 'file'],
  ['top', '--by', 'owner'],
  ['top', '--by', 'label:k'],
  ['trend', '--function', HOSTILE],
  ['trend', '--label', `k=${HOSTILE}`, '--by', 'day'],
  ['compare', '--base', 'date=2026-11-01', '--head', `branch=${HOSTILE},last=10`],
]

test('hostile names are text in a page, in a terminal and in JSON', async () => {
  const lake = await hostileLake()
  for (const [question, ...words] of QUESTIONS) {
    const file = path.join(temporaryDirectory(), 'page.html')
    const args = ['lake', question, lake, ...words, '--html', file]
    const { code, stdout, stderr } = await cli(args)
    assert.equal(code, 0, stderr)
    const page = fs.readFileSync(file, 'utf8')
    assert.doesNotMatch(page, /<script/, question)
    assert.doesNotMatch(page, CONTROLS, question)
    assert.doesNotMatch(page.replace(/<[^<>]*>/g, ''), /[<>]/, question)
    assert.ok(page.includes('&#60;script&#62;'), [question, ...words].join(' '))
    assert.doesNotMatch(stdout, CONTROLS, question)
    const json = await cli(['lake', question, lake, ...words, '--json'])
    assert.doesNotMatch(json.stdout, CONTROLS, question)
    assert.ok(JSON.stringify(JSON.parse(json.stdout)).includes('<script>'), question)
  }
})

test('a page loads nothing, and has dark colours', async () => {
  const lake = await writeLake(madeRuns({ commits: 4, runs: 3 }))
  const args = ['lake', 'trend', lake, '--function', 'renderTable', '--html', '-']
  const { stdout } = await cli(args)
  assert.match(stdout, /^<!doctype html>/)
  assert.match(stdout, /default-src 'none'; style-src 'unsafe-inline'/)
  assert.doesNotMatch(stdout, /https?:|src=|href=|url\(|@import/)
  assert.match(stdout, /prefers-color-scheme: dark/)
  assert.equal(stdout.match(/<circle class="run"/g)?.length, 12)
  assert.equal(stdout.match(/<circle class="dot"/g)?.length, 4)
  assert.equal(stdout.match(/<polygon class="band"/g)?.length, 1)
  assert.doesNotMatch(stdout, /NaN|Infinity|undefined/)
})

test('a page of nothing is whole too', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  for (const question of ['top', 'trend']) {
    const { code, stdout } = await cli(['lake', question, lake, '--branch', 'none', '--html', '-'])
    assert.equal(code, 0)
    assert.match(stdout, pattern`${messages.noneChosen}`)
    assert.doesNotMatch(stdout, /NaN|Infinity|undefined|null/)
    assert.ok(stdout.endsWith('</html>\n'))
  }
})

test('a page that cannot be written is told', async () => {
  const lake = await writeLake(madeRuns({ commits: 1, runs: 1 }))
  const folder = temporaryDirectory()
  const { code, stderr } = await cli(['lake', 'top', lake, '--html', folder])
  assert.equal(code, 1)
  assert.match(stderr, pattern`${messages.htmlIsFolder(folder)}`)
})
