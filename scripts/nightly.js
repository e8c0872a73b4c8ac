'use strict'

// Tests that take too long for each change: 10,000 damaged files, and 20 minutes of each fuzzer.
// `node scripts/nightly.js [--mutants=10000] [--minutes=20] [targets]`. The fuzzers need `cargo install
// cargo-fuzz`, and a compiler of C++.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const zlib = require('node:zlib')

const ROOT = path.join(__dirname, '..')
const FUZZ = path.join(ROOT, 'fuzz')
const GOLDEN = path.join(ROOT, 'src/core/format/trace/golden')
const FOREIGN = path.join(ROOT, '__test__/fixtures/foreign')
/** The most bytes of a seed: a fuzzer is faster with short ones. */
const SEED_BYTES = 30_000
/** Variables of the build of a fuzzer, which would be optimized as a whole program, for minutes. */
const FAST_BUILD = { CARGO_PROFILE_RELEASE_LTO: 'off', CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16' }

/** Texts of the fixtures whose names end so, by name. @param {RegExp} ending */
function fixtures(ending) {
  const names = fs.readdirSync(FOREIGN).filter((name) => ending.test(name))
  return names.map(
    (name) =>
      /** @type {const} */ ([
        name,
        zlib.gunzipSync(fs.readFileSync(path.join(FOREIGN, name))).subarray(0, SEED_BYTES),
      ]),
  )
}

function traces() {
  const golden = fs
    .readdirSync(GOLDEN)
    .map((name) => /** @type {const} */ ([name, fs.readFileSync(path.join(GOLDEN, name))]))
  return [...golden, ...fixtures(/\.(json|log)\.gz$/)]
}

/** The lines of all traces that are an event. */
function events() {
  const lines = traces().flatMap(([, text]) => text.toString().split('\n'))
  const some = lines.filter((line) => line.startsWith('{"')).slice(0, 500)
  return some.map((line, index) => /** @type {const} */ ([`${index}`, Buffer.from(line)]))
}

function sourceMaps() {
  const map = { version: 3, sources: ['a.ts', 'b.ts'], names: ['f'] }
  const flat = { ...map, mappings: 'AAAA,SAASA;EACP,CCAF' }
  const sections = [{ offset: { line: 3, column: 7 }, map: flat }]
  const texts = [
    flat,
    { ...flat, sourceRoot: '/r', sourcesContent: ['x', null] },
    { version: 3, sections },
  ]
  return [
    ...texts.map((text) => JSON.stringify(text)),
    `f()\n//# sourceMappingURL=data:application/json;base64,${btoa(JSON.stringify(flat))}\n`,
  ].map((text, index) => /** @type {const} */ ([`${index}`, Buffer.from(text)]))
}

/** A pprof file, and its parts. */
function pprof() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cpu-prof-seed-'))
  const file = path.join(dir, 'seed.pb')
  const bin = path.join(ROOT, 'bin', 'cpu-prof.js')
  const input = path.join(GOLDEN, 'merged.trace.json')
  execFileSync(process.execPath, [bin, 'convert', '-q', input, '-o', file])
  const bytes = fs.readFileSync(file)
  fs.rmSync(dir, { recursive: true })
  return [bytes, bytes.subarray(0, 400)].map(
    (bytes, index) => /** @type {const} */ ([`${index}`, bytes]),
  )
}

/** @type {Record<string, () => (readonly [string, Buffer])[]>} */
const SEEDS = {
  trace: traces,
  walk: events,
  source_map: sourceMaps,
  cpuprofile: () => fixtures(/\.cpuprofile\.gz$/),
  pprof,
}

/** Runs cargo, and ends this process if it fails. @param {string[]} args @param {NodeJS.ProcessEnv} env added to the environment */
function cargo(args, env) {
  console.log(`\ncargo ${args.join(' ')}`)
  const { status, error } = spawnSync('cargo', args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(1)
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      mutants: { type: 'string', default: '10000' },
      minutes: { type: 'string', default: '20' },
    },
  })
  cargo(['test', 'agreement'], { MUTANTS: values.mutants })
  for (const target of positionals.length > 0 ? positionals : Object.keys(SEEDS)) {
    const seeds = path.join(FUZZ, 'seeds', target)
    const corpus = path.join(FUZZ, 'corpus', target)
    for (const dir of [seeds, corpus]) fs.mkdirSync(dir, { recursive: true })
    for (const [name, text] of SEEDS[target]()) fs.writeFileSync(path.join(seeds, name), text)
    const limits = [
      `-max_total_time=${60 * Number(values.minutes)}`,
      '-timeout=20',
      '-rss_limit_mb=3000',
    ]
    // The code is safe Rust, which no sanitizer checks better; without one, the toolchain of the project will do.
    const options = ['--sanitizer', 'none', target, corpus, seeds, '--', ...limits]
    cargo(['fuzz', 'run', ...options], FAST_BUILD)
  }
}

if (require.main === module) main()

module.exports = { SEEDS }
