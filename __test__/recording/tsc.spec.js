'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { run, cleanEnv, temporaryDirectory } = require('../helpers/run.js')

// Compares cpu-prof with Node's own profiler on a real program: TypeScript's compiler with the DOM
// types.

const TSC = require.resolve('typescript/bin/tsc')

/** Computes self and total shares by function from nodes by id and the node ids of samples. */
function shares(
  /** @type {Map<number, {parent?: number, name: string}>} */ nodes,
  /** @type {number[]} */ samples,
) {
  /** @type {Map<string, number>} */
  const self = new Map()
  /** @type {Map<string, number>} */
  const total = new Map()
  const add = (/** @type {Map<string, number>} */ map, /** @type {string} */ name) =>
    map.set(name, (map.get(name) ?? 0) + 1 / samples.length)
  for (const sample of samples) {
    add(self, nodes.get(sample)?.name ?? '')
    const names = new Set()
    for (let id = /** @type {number | undefined} */ (sample); id !== undefined; ) {
      const node = nodes.get(id)
      names.add(node?.name)
      id = node?.parent
    }
    for (const name of names) add(total, name)
  }
  return { self, total }
}

/** Reads a .cpuprofile of Node's own profiler. @param {string} file */
function builtInShares(file) {
  const profile = JSON.parse(fs.readFileSync(file, 'utf8'))
  const nodes = new Map()
  for (const { id, callFrame } of profile.nodes) nodes.set(id, { name: callFrame.functionName })
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) nodes.get(child).parent = id
  }
  return shares(nodes, profile.samples)
}

/** Returns the functions with the largest shares. @param {Map<string, number>} map */
const hottest = (map, /** @type {number} */ count) =>
  [...map]
    .filter(([name]) => !name.startsWith('('))
    .sort((a, b) => b[1] - a[1])
    .slice(0, count)

test("tsc has the same hot functions as with Node's own profiler: each total within 15 percent points, and their self time by half", async () => {
  const project = temporaryDirectory()
  fs.writeFileSync(path.join(project, 'main.ts'), 'export const one: number = 1\n')
  const args = [TSC, '--noEmit', '--lib', 'es2022,dom']
  args.push('--skipLibCheck', 'false', path.join(project, 'main.ts'))

  const { code, traces, stdout } = await run(args, { cwd: project })
  assert.equal(code, 0, stdout)
  const [trace] = traces
  const ours = shares(
    new Map(
      [...trace.nodes].map(([id, { parent, callFrame }]) => [
        id,
        { parent, name: callFrame.functionName },
      ]),
    ),
    trace.samples.map(({ node }) => node.id),
  )

  const dir = temporaryDirectory()
  spawnSync(process.execPath, ['--cpu-prof', `--cpu-prof-dir=${dir}`, ...args], {
    cwd: project,
    env: cleanEnv(),
  })
  const builtIn = builtInShares(path.join(dir, fs.readdirSync(dir)[0]))

  // The first ten have nearly all of the time. The last of them has an eighth, half a second.
  for (const [name, share] of hottest(builtIn.total, 50)) {
    const other = ours.total.get(name) ?? 0
    const isNear = Math.abs(other - share) < 0.15 && other > share / 3
    assert.ok(isNear, `total of ${name}: ${other}, built-in ${share}`)
  }
  // One function has about one percent, and so few samples that only the sum says something.
  const hot = hottest(builtIn.self, 20)
  const builtInHot = hot.reduce((sum, [, share]) => sum + share, 0)
  const oursHot = hot.reduce((sum, [name]) => sum + (ours.self.get(name) ?? 0), 0)
  assert.ok(Math.abs(oursHot - builtInHot) < 0.5 * builtInHot, `${oursHot}, ${builtInHot}`)

  assert.equal(trace.processLabel.split(':')[0], 'tsc')
})
