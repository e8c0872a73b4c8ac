'use strict'

// Measures the search of `lake blame` in made-up lakes: false commits, steps that are found, and where.
// Usage: node bench/blame.js [lakes of each kind] [first seed]

const { findChanges } = require('../lib/offline.js')

/**
 * How runs of a program differ. Spreads are those of normal variables, as parts.
 * @typedef {object} Kind
 * @property {number} commits
 * @property {number} runs of each commit
 * @property {number} [hosts] machines, one for each commit
 * @property {number} [ofHost] spread of a function between machines
 * @property {boolean} [unknown] whether the machines are unknown
 * @property {number} [ofCommit] spread of a function between commits
 * @property {number} [outliers] part of the values that are tripled
 * @property {number} [memory] what the speed of the machine keeps from run to run
 * @property {[at: number, factor: number][]} [steps] commits, and factors of the time of the first function
 * @property {[at: number, factor: number]} [whole] a commit, and the factor of all times
 */

const [LAKES, FIRST] = [100, 1].map((value, at) => Number(process.argv[at + 2]) || value)
const FUNCTIONS = 300
const SHARE = 0.05
const OWN = 0.03
const SPEED = 0.15
const INTERVAL = 1000
/** Commits from a step within which a commit is told as its second place. */
const NEAR = 3

/** @type {Record<string, Kind>} */
const WITHOUT = {
  '50 × 4': { commits: 50, runs: 4 },
  '200 × 1': { commits: 200, runs: 1 },
  '8 × 5': { commits: 8, runs: 5 },
  '50 × 4, 5 % effect of each commit': { commits: 50, runs: 4, ofCommit: 0.05 },
  '50 × 4, 4 machines': { commits: 50, runs: 4, hosts: 4, ofHost: 0.05 },
  '50 × 4, 4 unknown machines': { commits: 50, runs: 4, hosts: 4, ofHost: 0.05, unknown: true },
  '50 × 4, 2 % tripled': { commits: 50, runs: 4, outliers: 0.02 },
  ...Object.fromEntries(
    [0.9, 0.98].flatMap((memory) => [
      [`50 × 4, memory ${memory}`, { commits: 50, runs: 4, memory }],
      [`200 × 1, memory ${memory}`, { commits: 200, runs: 1, memory }],
      [
        `40 × 3, 4 machines, memory ${memory}`,
        { commits: 40, runs: 3, hosts: 4, ofHost: 0.05, ofCommit: 0.03, memory },
      ],
    ]),
  ),
}
/** @type {Record<string, Kind>} */
const WITH = {
  '20 × 10': { commits: 20, runs: 10, steps: [[10, 1.1]] },
  '25 × 8': { commits: 25, runs: 8, steps: [[13, 1.1]] },
  '50 × 4': { commits: 50, runs: 4, steps: [[25, 1.1]] },
  '100 × 2': { commits: 100, runs: 2, steps: [[50, 1.1]] },
  '200 × 1': { commits: 200, runs: 1, steps: [[100, 1.1]] },
  '50 × 4, memory 0.9': { commits: 50, runs: 4, memory: 0.9, steps: [[25, 1.1]] },
  '50 × 4, 2 % tripled': { commits: 50, runs: 4, outliers: 0.02, steps: [[25, 1.1]] },
  '50 × 4, before the last 20 runs': { commits: 50, runs: 4, steps: [[45, 1.1]] },
  '50 × 4, +20 % for 10 commits': { commits: 50, runs: 4, steps: steps(20, 30, 1.2) },
  '50 × 4, +20 % for 20 commits': { commits: 50, runs: 4, steps: steps(15, 35, 1.2) },
  '50 × 4, whole +15 %': { commits: 50, runs: 4, whole: [25, 1.15] },
  '50 × 4, whole +30 %': { commits: 50, runs: 4, whole: [25, 1.3] },
  '50 × 4, whole +30 %, memory 0.9': { commits: 50, runs: 4, memory: 0.9, whole: [25, 1.3] },
}

/** Returns a step that is taken back. @param {number} from @param {number} to @param {number} factor */
function steps(from, to, factor) {
  return /** @type {[number, number][]} */ ([
    [from, factor],
    [to, 1 / factor],
  ])
}

/** Returns random numbers from 0 to 1, the same for a seed. @param {number} seed */
function numbers(seed) {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32
  }
}

/** Returns the input of a search; its last row is the whole. @param {Kind} kind @param {number} seed */
function madeLake(kind, seed) {
  const { commits, runs, hosts = 1, ofHost = 0, ofCommit = 0, outliers = 0, memory = 0 } = kind
  const draw = numbers(seed)
  const normal = () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw())
  const spread = (/** @type {number} */ size) => (size === 0 ? 1 : Math.exp(size * normal()))
  const count = (/** @type {number} */ mean) => {
    if (mean > 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
    let drawn = 0
    for (let left = draw(); left > Math.exp(-mean); left *= draw()) drawn++
    return drawn
  }
  // Few functions have most of the time.
  const weights = Array.from({ length: FUNCTIONS }, (_, row) => 1 / (row + 3))
  const others = weights.slice(1).reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight, row) => (row === 0 ? SHARE : ((1 - SHARE) * weight) / others))
  const table = (/** @type {number} */ length, /** @type {number} */ size) =>
    Array.from({ length }, () => shares.map(() => spread(size)))
  const [hostEffects, commitEffects] = [table(hosts, ofHost), table(commits, ofCommit)]
  const rows = Array.from({ length: FUNCTIONS + 1 }, (_, row) => {
    const share = row < FUNCTIONS
    const values = /** @type {number[]} */ ([])
    return { values, sampled: share ? 1 / 4000 : INTERVAL, share, part: share }
  })
  const input = {
    commits: /** @type {number[]} */ ([]),
    hosts: /** @type {(number | null)[]} */ ([]),
    samples: /** @type {number[]} */ ([]),
    rows,
  }
  let speed = normal()
  for (let commit = 0; commit < commits; commit++) {
    const host = Math.floor(hosts * draw())
    for (let run = 0; run < runs; run++) {
      const times = shares.map((share, row) => {
        const off = outliers > 0 && draw() < outliers ? 3 : 1
        return share * spread(OWN) * off * hostEffects[host][row] * commitEffects[commit][row]
      })
      for (const [at, factor] of kind.steps ?? []) times[0] *= commit >= at ? factor : 1
      const all = times.reduce((sum, time) => sum + time, 0)
      const wanted = 2000 + 4000 * draw()
      const counts = times.map((time) => count((wanted * time) / all))
      const samples = counts.reduce((sum, one) => sum + one, 0)
      counts.forEach((one, row) => void rows[row].values.push(one / samples))
      speed = memory * speed + Math.sqrt(1 - memory ** 2) * normal()
      const factor = kind.whole !== undefined && commit >= kind.whole[0] ? kind.whole[1] : 1
      rows[FUNCTIONS].values.push(4e6 * all * factor * Math.exp(SPEED * speed))
      input.samples.push(samples)
      input.commits.push(commit)
      input.hosts.push(kind.unknown ? null : host)
    }
  }
  return input
}

/** Searches lakes of a kind, and prints what was found. @param {string} name @param {Kind} kind */
async function measure(name, kind) {
  const steps = [...(kind.steps ?? []), ...(kind.whole === undefined ? [] : [kind.whole])]
  const target = kind.whole === undefined ? 0 : FUNCTIONS
  const tally = { found: 0, exact: 0, near: 0, covered: 0, all: 0, unclear: 0 }
  const wrong = { lakes: 0, commits: 0, whole: 0, functions: 0, near: 0 }
  for (let seed = FIRST; seed < FIRST + LAKES; seed++) {
    const result = await findChanges(madeLake(kind, seed))
    const changes = result.commits.flatMap((/** @type {any} */ commit) => commit.changes)
    const distance = (/** @type {{ commit: number }} */ { commit }) =>
      Math.min(...steps.map(([at]) => Math.abs(commit - at)))
    tally.unclear += Number(result.unclear.length > 0)
    const own = changes
      .filter((/** @type {any} */ { row }) => row === target && steps.length > 0)
      .sort((/** @type {any} */ a, /** @type {any} */ b) => distance(a) - distance(b))[0]
    if (own !== undefined) {
      tally.found++
      tally.exact += Number(distance(own) === 0)
      tally.near += Number(distance(own) <= 1)
      const isNear = (/** @type {number} */ at, /** @type {{ commit: number }} */ { commit }) =>
        Math.abs(commit - at) <= 1
      const isCovered = (/** @type {{ commit: number }} */ { commit }) =>
        steps.some(([at]) => at === commit)
      tally.covered += Number(own.candidates.some(isCovered))
      const ofRow = changes.filter((/** @type {any} */ { row }) => row === target)
      const isFound = (/** @type {[number, number]} */ [at]) =>
        ofRow.some((/** @type {any} */ change) => isNear(at, change))
      tally.all += Number(steps.every(isFound))
    }
    // Of a step, one commit is right: that of the change nearest to it.
    const others = result.commits.filter((/** @type {any} */ commit) => {
      return !commit.changes.includes(own) && (steps.length < 2 || distance(commit) > NEAR)
    })
    wrong.lakes += Number(others.length > 0)
    wrong.commits += others.length
    for (const commit of others) {
      const isWhole = commit.changes.every((/** @type {any} */ { row }) => row === FUNCTIONS)
      wrong[isWhole ? 'whole' : 'functions']++
      wrong.near += Number(distance(commit) <= NEAR)
    }
  }
  const { found, exact, near, covered, all, unclear } = tally
  const place =
    steps.length === 0
      ? ''
      : `found ${found}, at it ${exact}, ±1 ${near}, all ±1 ${all}, candidates ${covered}; of the others near it ${wrong.near}; `
  console.log(
    `${name}: ${place}false in ${wrong.lakes} lakes: ${wrong.commits} commits, ${wrong.whole} of the whole only, ${wrong.functions} of functions; whole unclear in ${unclear}`,
  )
}

async function main() {
  console.log(`${LAKES} lakes of each kind, seeds from ${FIRST}`)
  for (const [name, kind] of [...Object.entries(WITHOUT), ...Object.entries(WITH)]) {
    await measure(name, kind)
  }
}

main()
