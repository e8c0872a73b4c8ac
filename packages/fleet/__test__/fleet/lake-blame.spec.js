'use strict'

// `cpu-prof lake blame`: made-up lakes with and without a step.

const assert = require('node:assert/strict')
const test = require('node:test')
const { cli } = require('../../../../__test__/helpers/cli.js')
const { hex, random, writeLake } = require('../helpers/lakes.js')

/** @typedef {import('../helpers/lakes.js').MadeRun} MadeRun */

const FUNCTIONS = 24

/**
 * Returns runs whose samples and machines differ by chance. `target` has a twentieth of the work.
 * @param {{ seed: number, commits: number, each: number, step?: number, factor?: number, repo?: string, gaps?: number }} options each: runs of a commit; gaps: commits between two with runs
 * @returns {MadeRun[]}
 */
function noisyRuns({ seed, commits, each, step = commits, factor = 1.1, repo, gaps = 1 }) {
  const draw = random(seed)
  for (let i = 0; i < 20; i++) draw()
  const normal = () => Array.from({ length: 12 }, draw).reduce((sum, one) => sum + one, -6)
  return Array.from({ length: commits * each }, (_, number) => {
    const at = Math.floor(number / each)
    const speed = Math.exp(0.15 * normal())
    const samples = 2000 + 4000 * draw()
    const functions = Array.from({ length: FUNCTIONS }, (_, index) => {
      const name = index === 0 ? 'target' : `f${index}`
      const share = index === 0 ? 0.05 : 0.95 / (FUNCTIONS - 1)
      const mean = share * samples * (index === 0 && at >= step ? factor : 1)
      const count = mean * Math.exp(0.02 * normal()) + Math.sqrt(mean) * normal()
      return {
        function: name,
        file: `src/${name}.js`,
        self: Math.round(1000 * speed * Math.max(0, count)),
      }
    })
    const day = String(1 + Math.floor(at / 4)).padStart(2, '0')
    const time = `${String((at % 4) * 5).padStart(2, '0')}:${String(number % 60).padStart(2, '0')}:00`
    return {
      id: hex(`${repo} ${seed} ${number}`),
      start: `2026-11-${day} ${time}`,
      repo,
      branch: 'main',
      seq: 1 + at * gaps,
      commit: commitOf(at),
      functions,
    }
  })
}

/** @param {number} at */
const commitOf = (at) => hex(`commit ${at}`)

/** @param {string[]} args */
async function blame(...args) {
  const { code, stdout, stderr } = await cli(['lake', 'blame', ...args, '--json'])
  assert.deepEqual([code, stderr], [0, ''])
  return JSON.parse(stdout)
}

test('twenty lakes without a step have one false commit at most', async () => {
  const repos = Array.from({ length: 20 }, (_, at) => `org/app${at}`)
  const runs = repos.flatMap((repo, at) => noisyRuns({ seed: 1 + at, commits: 20, each: 3, repo }))
  const lake = await writeLake(runs, { compacted: true })
  let commits = 0
  for (const repo of repos) {
    const found = await blame(lake, '--repo', repo)
    assert.deepEqual([found.runs, found.positions, found.enough], [60, 20, true])
    commits += found.commits.length
  }
  assert.ok(commits <= 1, `${commits} commits`)
})

test('a tenth more in a twentieth of the work is found at its commit within 200 runs', async () => {
  const repos = Array.from({ length: 5 }, (_, at) => `org/step${at}`)
  const runs = repos.flatMap((repo, at) =>
    noisyRuns({ seed: 40 + at, commits: 25, each: 8, step: 13, repo }),
  )
  const lake = await writeLake(runs, { compacted: true })
  for (const repo of repos) {
    const { commits } = await blame(lake, '--repo', repo, '--function', 'target')
    assert.equal(commits.length, 1, repo)
    const [{ changes, commit, candidates }] = commits
    assert.ok([12, 13, 14].map(commitOf).includes(commit), `${repo} ${commit}`)
    assert.ok(candidates.some((/** @type {any} */ one) => one.commit === commitOf(13)))
    assert.equal(changes[0].name, 'target')
    const { relative, error } = changes[0]
    assert.ok(Math.abs(relative - 0.1) < 2 * error && error < 0.08, `${relative} ${error}`)
  }
})

test('a commit is printed with its size, what else it can be, and the next command', async () => {
  const runs = noisyRuns({ seed: 7, commits: 20, each: 4, step: 10, factor: 2, gaps: 3 })
  const lake = await writeLake(runs, { compacted: true })
  const { stdout } = await cli(['lake', 'blame', lake], { env: { COLUMNS: '80' } })
  assert.match(
    stdout,
    /^1 commit changed something beyond the noise: 80 runs of 20 commits, \d+ rows\n/,
  )
  const line = stdout.split('\n').find((line) => line.includes('target  src/target.js'))
  assert.match(String(line), /^ {2}\+\d+\.\d% ±\d+\.\d% +\d+ ms → \d+ ms +40 \+ 40 +target/)
  assert.ok(stdout.includes(`\n${commitOf(10).slice(0, 10)}\n`))
  assert.ok(stdout.includes('or one of the 2 commits before it, which have no run'))
  const sentence = 'with the effect of a change on the shares of others taken out'
  assert.ok(stdout.replaceAll('\n', ' ').includes(sentence), stdout)
  const sides = `--base commit=${commitOf(9)} --head commit=${commitOf(10)}`
  assert.ok(stdout.includes(`next: cpu-prof lake compare ${lake} ${sides}\n`), stdout)
  for (const [option, start] of [
    ['--markdown', '### 1 commit changed'],
    ['--html=-', '<!doctype html>'],
  ]) {
    const { stdout } = await cli(['lake', 'blame', lake, option])
    assert.ok(stdout.startsWith(start) && stdout.includes('target'))
  }
})

test('a new name of a function is no change of its time', async () => {
  const runs = noisyRuns({ seed: 9, commits: 20, each: 4 })
  runs.forEach((run, number) => {
    const [target, other] = run.functions
    target.file = 'src/f1.js'
    if (number >= 40) target.function = 'better'
    other.self *= number >= 40 ? 2 : 1
  })
  const found = await blame(await writeLake(runs, { compacted: true }))
  const changes = found.commits.flatMap((/** @type {any} */ { changes }) => changes)
  const renamed = changes.find((/** @type {any} */ { name }) => name === 'better')
  assert.deepEqual([renamed?.outcome, renamed?.was], ['renamed', 'target'])
  assert.ok(!changes.some((/** @type {any} */ { name }) => name === 'target'))
})

test('too few runs, an unknown name and two repositories are told', async () => {
  const few = await writeLake(noisyRuns({ seed: 1, commits: 3, each: 3, repo: 'org/a' }))
  const { stdout } = await cli(['lake', 'blame', few])
  assert.match(stdout, /9 runs of 3 commits cannot tell a change: each side needs 8 runs/)
  const unknown = await cli(['lake', 'blame', few, '--function', 'absent'])
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no function 'absent' has .* of the work/)
  await writeLake(noisyRuns({ seed: 2, commits: 2, each: 1, repo: 'org/b' }), { folder: few })
  const two = await cli(['lake', 'blame', few])
  assert.equal(two.code, 2)
  assert.match(two.stderr, /runs are of 2 repositories.*--repo org\/[ab]/)
})
