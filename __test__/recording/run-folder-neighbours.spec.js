'use strict'

// What others can make in the folder for temporary files, or in a repository.

const assert = require('node:assert/strict')
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const test = require('node:test')
const { cli, BIN, LIMITED } = require('../helpers/cli.js')
const { cleanEnv, temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { asNeighbour, NEEDS_ROOT } = require('../helpers/neighbour.js')
const { runTraces } = require('../helpers/run-traces.js')
const { NEEDS_BASH } = require('../helpers/shell.js')
const { writeTrace } = require('../helpers/written.js')

const NODE = process.execPath
/** A folder for temporary files that all users share. */
const SHARED = 0o1777

/** Returns a folder that all users share. */
function sharedDirectory() {
  // Outside of folders that only this user can enter.
  const dir = temporaryDirectory('cpu-prof-shared-', '/tmp')
  fs.chmodSync(dir, SHARED)
  return dir
}

/**
 * Returns the file of a run that was killed in a folder. @param {string} cwd
 * @param {object} [changes]
 */
function runInfo(cwd, changes) {
  const info = { id: 'x', variables: {}, pid: 2 ** 30, cwd, command: ['node', 'x.js'] }
  return JSON.stringify({ ...info, ...changes })
}

/** Runs `run` and then `report`. Returns what both print to stderr. @param {string} cwd @param {string} tmp */
async function runAndReport(cwd, tmp) {
  const options = { cwd, env: { TMPDIR: tmp }, under: LIMITED }
  const run = await cli(['run', NODE, '-e', 'process.exitCode = 7'], options)
  assert.equal(run.code, 7, run.stderr)
  const [trace] = runTraces(cwd)
  const report = await cli(['report', trace], options)
  assert.equal(report.code, 0, report.stderr)
  fs.rmSync(path.join(cwd, 'profiles'), { recursive: true })
  return run.stderr + report.stderr
}

/** Makes the folder of a run with a recording. @param {string} tmp @param {string} name @param {string} info */
function makeRun(tmp, name, info) {
  const folder = path.join(tmp, `cpu-prof-run-${name}`)
  fs.mkdirSync(path.join(folder, 'recordings'), { recursive: true, mode: 0o755 })
  writeTrace(path.join(folder, 'recordings', 'x.trace.json'), { spans: [['work x.js:1', 9]] })
  if (info !== '') fs.writeFileSync(path.join(folder, 'run.json'), info)
  return folder
}

test('what is not a run is neither waited for nor offered', async () => {
  const cwd = temporaryDirectory()
  const tmp = temporaryDirectory()
  const inside = (/** @type {string} */ name) => path.join(makeRun(tmp, name, ''), 'run.json')
  execFileSync('mkfifo', [inside('pipe')])
  fs.symlinkSync('/dev/zero', inside('device'))
  fs.writeFileSync(inside('huge'), '')
  fs.truncateSync(inside('huge'), 2 ** 31)
  fs.symlinkSync(makeRun(temporaryDirectory(), 'x', runInfo(cwd)), path.join(tmp, 'cpu-prof-run-l'))
  fs.chmodSync(makeRun(tmp, 'open', runInfo(cwd)), 0o777)
  const shapes = [
    'null',
    '1',
    '"x"',
    '[]',
    '{',
    `{"cwd":${JSON.stringify(cwd)}}`,
    { command: 'x' },
    { command: { join: 1 } },
    { command: [{}] },
    { command: null },
    { pid: 'x' },
    { pid: -1 },
    { pid: 1.5 },
    { pid: null },
    { variables: null },
    { id: 1 },
  ]
  shapes.forEach((shape, i) => {
    makeRun(tmp, `shape${i}`, typeof shape === 'string' ? shape : runInfo(cwd, shape))
  })
  assert.doesNotMatch(await runAndReport(cwd, tmp), /earlier run|cannot|TypeError/)
  makeRun(tmp, 'whole', runInfo(cwd))
  const offers = (await runAndReport(cwd, tmp)).match(/earlier run/g)
  assert.equal(offers?.length, 2, 'one by each command')
})

test('the commands that are offered can be copied, whatever the names are', {
  skip: NEEDS_BASH,
}, async () => {
  const cwd = temporaryDirectory()
  const tmp = path.join(temporaryDirectory(), "a b; touch pwned #'\n")
  const folder = makeRun(tmp, 'x', runInfo(cwd))
  const { stderr } = await cli(['run', '--dir', "it's\x1b", NODE, '-e', '0'], {
    cwd,
    env: { TMPDIR: tmp },
    under: LIMITED,
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the text must not have them
  assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f]/)
  const shell = (/** @type {string | undefined} */ command) =>
    execFileSync('bash', ['-c', `cpu-prof() { "$NODE" "$BIN" "$@"; }; ${command}`], {
      cwd,
      env: { ...cleanEnv(), NODE, BIN },
      stdio: 'pipe',
    })
  shell(/more of the report: (.*)/.exec(stderr)?.[1])
  shell(/: (cpu-prof merge .*?); to drop it/.exec(stderr)?.[1])
  shell(/; to drop it: (rm .*)/.exec(stderr)?.[1])
  assert.ok(!fs.existsSync(folder) && fs.existsSync(tmp))
  assert.deepEqual(fs.readdirSync(cwd).sort(), ["it's\x1b", 'trace.json'].sort())
})

test("other users' folders are not runs", { skip: NEEDS_ROOT }, async () => {
  const cwd = temporaryDirectory()
  const tmp = sharedDirectory()
  fs.writeFileSync(path.join(tmp, 'info'), runInfo(cwd), { mode: 0o644 })
  asNeighbour(
    `make() { mkdir -p "$1/recordings"; echo '{"traceEvents":[]}' > "$1/recordings/x.trace.json"; }
     make 'cpu-prof-run-1; touch pwned #'; cp info 'cpu-prof-run-1; touch pwned #/run.json'
     make cpu-prof-run-pipe; mkfifo cpu-prof-run-pipe/run.json
     make cpu-prof-run-zero; ln -s /dev/zero cpu-prof-run-zero/run.json
     make cpu-prof-run-ended; cp info cpu-prof-run-ended/ended.json
     seq -f cpu-prof-run-%g 2 3000 | xargs mkdir`,
    tmp,
  )
  assert.doesNotMatch(await runAndReport(cwd, tmp), /earlier run|pwned/)
})

test('settings of another user are not obeyed when a run is over', {
  skip: NEEDS_ROOT,
}, async () => {
  const tmp = sharedDirectory()
  const cwd = temporaryDirectory()
  const preload = (/** @type {string} */ name) => {
    const file = `${tmp}/${name}/${path.relative(path.join(tmp, name), PACKAGE)}/index.js`
    return `--require ${JSON.stringify(file)}`
  }
  const variables = { CPU_PROF_DIR: path.join(tmp, 'theirs') }
  const files = {
    settings: JSON.stringify({ id: 'x', variables }),
    wrong: JSON.stringify({ id: 'x', variables: { CPU_PROF_INTERVAL: 'x' } }),
  }
  for (const [name, text] of Object.entries(files)) {
    asNeighbour(`mkdir cpu-prof-run-${name}; echo '${text}' > cpu-prof-run-${name}/run.json`, tmp)
  }
  asNeighbour('mkdir cpu-prof-run-pipe; mkfifo cpu-prof-run-pipe/run.json', tmp)
  // A run's own user is obeyed, unless others can write into the folder.
  const open = makeRun(tmp, 'open', files.wrong)
  fs.chmodSync(open, 0o777)
  for (const name of ['settings', 'wrong', 'pipe', 'open']) {
    const env = { ...cleanEnv(), NODE_OPTIONS: preload(`cpu-prof-run-${name}`) }
    const options = /** @type {const} */ ({ cwd, env, encoding: 'utf8', timeout: 60_000 })
    const { status, stderr } = spawnSync(NODE, ['-e', 'process.exitCode = 7'], options)
    assert.deepEqual({ name, status, stderr }, { name, status: 7, stderr: '' })
  }
  assert.ok(!fs.existsSync(variables.CPU_PROF_DIR))
  assert.deepEqual(fs.readdirSync(cwd), [])
})

test('an ignore file that is a pipe does not stop a run', async () => {
  const cwd = temporaryDirectory()
  fs.mkdirSync(path.join(cwd, 'profiles'))
  execFileSync('mkfifo', [path.join(cwd, 'profiles', '.gitignore')])
  const options = { cwd, env: { TMPDIR: os.tmpdir() }, under: LIMITED }
  for (const dir of [[], ['--dir', 'profiles/x']]) {
    const { code, stderr } = await cli(['run', ...dir, NODE, '-e', 'process.exitCode = 7'], options)
    assert.equal(code, 7, stderr)
    assert.match(stderr, /\ntrace: profiles\/\S+trace\.json /)
  }
})
