'use strict'

// Containers that share a folder: equal pids, and starts within one tick of the system's clock.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { filesIn, run, temporaryDirectory } = require('../helpers/run.js')

/** A command that runs another one as the first process of a namespace. */
const CONTAINER = [
  ['unshare', '--pid', '--fork', '--mount-proc'],
  ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'],
].find(([command, ...args]) => spawnSync(command, [...args, 'true']).status === 0)
const skip = CONTAINER === undefined && 'this user cannot make namespaces'

const PROGRAM = `
  const { Worker, isMainThread } = require('node:worker_threads')
  if (isMainThread) new Worker(__filename)`

/** Returns the facts of a file about its process. @param {string} file */
function factsOf(file) {
  const json = JSON.parse(fs.readFileSync(file, 'utf8'))
  return (json.metadata ?? json)['cpu-prof']
}

test('processes of one pid and one start stay apart', { skip }, async () => {
  const cwd = temporaryDirectory()
  fs.writeFileSync(path.join(cwd, 'contained.js'), PROGRAM)
  // All want the same names for their files.
  const env = { CPU_PROF_NAME: 'CPU.%P.%T', CPU_PROF_FORMAT: 'trace,cpuprofile' }
  const options = { cwd, env, under: CONTAINER, read: 0 }
  const runs = await Promise.all([1, 2, 3].map(() => run(['./contained.js'], options)))
  for (const { code, stderr } of runs) assert.deepEqual([code, stderr], [0, ''])

  const files = ['.trace.json', '.cpuprofile'].flatMap((ending) => filesIn(cwd, ending))
  assert.equal(files.length, 12, files.join())
  /** Files by the key of their process. @type {Map<string, string[]>} */
  const processes = new Map()
  for (const file of files) {
    const { pid, processKey, processStartMs } = factsOf(file)
    assert.equal(pid, 1)
    processes.set(processKey, [...(processes.get(processKey) ?? []), file])
    const text = fs.readFileSync(file, 'utf8')
    const same = `"processStartMs":${'1'.repeat(String(processStartMs).length)}`
    fs.writeFileSync(file, text.replace(`"processStartMs":${processStartMs}`, same))
  }
  assert.deepEqual(
    [...processes.values()].map((list) => list.length),
    [4, 4, 4],
  )
  const namespaces = [...processes.values()].map(([file]) => factsOf(file).pidNamespace)
  assert.equal(new Set(namespaces).size, 3)

  for (const ending of ['.trace.json', '.cpuprofile']) {
    const result = await report(filesIn(cwd, ending))
    assert.deepEqual(
      result.processes.map(({ pid, threads }) => [pid, threads.length]),
      Array(3).fill([1, 2]),
    )
  }
  const output = path.join(cwd, 'out', 'trace.json')
  const merged = await merge(filesIn(cwd, '.trace.json'), output)
  assert.deepEqual([merged.processes, merged.threads], [3, 6])
  const { traceEvents } = JSON.parse(fs.readFileSync(output, 'utf8'))
  const named = traceEvents.filter((/** @type {any} */ { name }) => name === 'process_name')
  assert.deepEqual(
    Object.fromEntries(named.map((/** @type {any} */ { pid, args }) => [pid, args.name])),
    {
      1: 'contained.js (pid 1)',
      10000000: 'contained.js (pid 1) #2',
      10000001: 'contained.js (pid 1) #3',
    },
  )
  assert.equal((await report(output)).processes.length, 3)
  assert.equal((await report([output, cwd])).processes.length, 3)
})
