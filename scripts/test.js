'use strict'

// `npm test`: the build, the linters, the Rust tests and the spec files, on this Node.
// `npm test -- merge`: the build, then the Rust tests with `merge` in their paths and the spec files
// whose names begin with it.
// `npm test -- --changed`: what a change touches: what differs from the branch that this one follows, or
// from the last commit. `--changed=<commit>` compares with that commit.

const { execFileSync, spawn } = require('node:child_process')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { baseCommit, filesChangedSince } = require('./code/repository.js')
const { readUses, USES } = require('./code/rust.js')
const { selectSpecs } = require('./specs/files.js')

const SPECS = path.join(__dirname, 'specs.js')
const root = path.join(__dirname, '..')

/**
 * Runs a command to its end and prints its duration. Rejects if the command fails.
 * @param {string} title @param {string[]} command
 * @param {{ isHeldBack?: boolean, isMute?: boolean, cwd?: string, env?: NodeJS.ProcessEnv }} [options] `isHeldBack`: the
 *   output is shown at the end, in one piece, since another step is running; `isMute`: it is shown only if the command
 *   fails; `env`: variables besides those of this process
 * @returns {Promise<string>} what it wrote to stdout
 */
function step(title, [program, ...args], options = {}) {
  const { isHeldBack = false, isMute = false, cwd = root } = options
  const start = Date.now()
  const env = { ...process.env, ...options.env }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [all, stdout] = ['', '']
  const show = (/** @type {string} */ text) => {
    if (isHeldBack) all += text
    else process.stdout.write(text)
  }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    show(text)
  })
  child.stderr.setEncoding('utf8').on('data', show)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const seconds = ((Date.now() - start) / 1000).toFixed(1)
      console.log(`${isMute && code === 0 ? '' : all}== ${title}: ${seconds} s`)
      if (code === 0) resolve(stdout)
      else reject(new Error(`${title} failed (${code ?? signal})`))
    })
  })
}

/** Says where the compiled tests of each crate are. */
const COMPILED = ['cargo', 'test', '--quiet', '--lib', '--no-run', '--message-format=json']
/** Variables with which the Rust tests of a change try fewer damaged files: `npm test` tries all. */
const FEWER = { MUTANTS: '50' }
/** Specs that need nothing that `npm test` does not fetch. */
const IN_NPM_TEST = /^(pure|recording|stress)\//

/** Builds the addons, unless ADDONS_ARE_BUILT says that those in the root are of these sources. */
const build = async () => {
  if (process.env.ADDONS_ARE_BUILT) return ''
  return step('build', ['npm', 'run', '--silent', 'build'], { isHeldBack: true })
}

/** Runs spec files. @param {string[]} args of specs.js */
function specs(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SPECS, ...args], { cwd: root, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(undefined)
      else reject(new Error(`specs failed (${code ?? signal})`))
    })
  })
}

/**
 * Returns the command of the Rust tests. Tests that only root can run are ignored for other users.
 * @param {string[]} names parts of paths; none: all tests
 */
function rustTests(...names) {
  return ['cargo', 'test', '--quiet', '--', ...asRoot(), ...names]
}

/** Returns the options of the Rust tests that only root can run. */
const asRoot = () => (process.getuid?.() === 0 ? ['--include-ignored'] : [])

/** Runs the linters, then the Rust tests, which also build the libraries that recordings load. */
async function lintAndRust() {
  await step('lint', ['npm', 'run', '--silent', 'lint'], { isHeldBack: true })
  await step('cargo test', rustTests(), { isHeldBack: true })
}

async function everything() {
  // The pure specs do not mind a busy machine.
  await all([build().then(() => specs(['--kind=pure'])), lintAndRust()])
  await specs(['--kind=recording', '--kind=stress'])
  const skipped = selectSpecs({ kinds: ['fleet'] })
  console.log(
    `skipped, because \`npm run test:fleet\` fetches what they need: ${skipped.join(', ')}`,
  )
}

/**
 * Runs Rust tests and spec files by name.
 * @param {string[]} rust parts of paths; none: no Rust test @param {string[]} names of spec files
 */
async function some(rust, names) {
  const [output] = await all([
    rust.length > 0 ? step('cargo test', rustTests(...rust)) : '',
    build(),
  ])
  const ran = [...output.matchAll(/^running (\d+) tests?$/gm)].some(([, count]) => count !== '0')
  if (selectSpecs({ names }).length > 0 && names.length > 0) return specs(names)
  if (!ran) throw new Error(`no test is named after ${[...rust, ...names].join(' or ')}`)
}

/**
 * Runs those Rust tests that use changed files. Cargo would compile the crates with other features, and so once
 * more, if it were asked for some of them.
 * @param {string[]} names of the crates @param {string[]} changed
 * @param {import('./code/rust.js').AllUses} uses
 */
async function crateTests(names, changed, uses) {
  const { readCrates } = require('./code/rust.js')
  const { touchedTests } = require('./code/rust-tests.js')
  const output = await step('compile Rust tests', COMPILED, { isHeldBack: true, isMute: true })
  const artifacts = output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    const { executable, manifest_path: manifest } = JSON.parse(line)
    return executable && manifest ? [{ executable, folder: path.dirname(manifest) }] : []
  })
  for (const { name, folder } of readCrates().filter(({ name }) => names.includes(name))) {
    const cwd = path.join(root, folder)
    const own = artifacts.find((each) => path.relative(each.folder, cwd) === '')
    if (own === undefined) throw new Error(`cargo has compiled no tests of ${name}`)
    const list = execFileSync(own.executable, ['--list', '--format=terse'], { encoding: 'utf8' })
    const all = [...list.matchAll(/^(.*): test$/gm)].map(([, test]) => test)
    const touched = touchedTests(all, folder, changed, uses)
    if (touched.length === 0) continue
    const title = `${touched.length} of ${all.length} Rust tests of ${name}`
    const command = [own.executable, '--quiet', ...asRoot(), '--exact', ...touched]
    await step(title, command, { isHeldBack: true, cwd, env: FEWER })
  }
}

/** @param {string} [commit] default: that of the branch which this one follows */
async function whatChanged(commit = baseCommit()) {
  const changed = filesChangedSince(commit)
  if (changed.length === 0) return console.log(`nothing has changed since ${commit}`)
  const isRust = changed.some((file) => file.startsWith('src/'))
  // Compiles all Rust tests, too.
  const uses = isRust
    ? readUses(await step('uses of Rust', USES, { isHeldBack: true, isMute: true }))
    : { uses: {}, ofTests: {} }
  const { readSources, touchedBy } = require('./specs/touched.js')
  const { everything: why, specs: names, crates } = touchedBy(changed, readSources(), uses.uses)
  if (why !== undefined) {
    console.log(`everything, because ${why}`)
    return everything()
  }
  const elsewhere = names.filter((name) => !IN_NPM_TEST.test(name))
  const here = names.filter((name) => IN_NPM_TEST.test(name))
  const pure = here.filter((name) => name.startsWith('pure/'))
  const others = here.filter((name) => !pure.includes(name))
  console.log(
    `touched: ${[...crates.map((name) => `the Rust tests of ${name}`), ...here].join(', ')}`,
  )
  const rust = crates.length > 0 ? crateTests(crates, changed, uses) : ''
  await all([rust, build().then(() => pure.length > 0 && specs(pure))])
  if (others.length > 0) {
    console.log(
      `the Rust tests and ${pure.length} pure specs passed after ${process.uptime().toFixed()} s; ${others.length} others follow`,
    )
    // The libraries that recorded programs load.
    await step('examples', ['cargo', 'build', '--quiet', '--examples'], { isMute: true })
    await specs(others)
  }
  if (elsewhere.length > 0) {
    console.log(
      `not run, touched too: ${elsewhere.join(', ')} (npm run test:fleet, npm run test:lake)`,
    )
  }
  if (here.length === 0 && crates.length === 0) console.log('no test is touched')
}

/** Waits for all, then fails if one did. @param {(Promise<any> | string)[]} steps */
async function all(steps) {
  await Promise.allSettled(steps)
  return Promise.all(steps)
}

function main() {
  const [first, ...others] = process.argv.slice(2)
  if (first?.startsWith('--changed')) {
    const options = /** @type {const} */ ({ changed: { type: 'string' } })
    const args = first === '--changed' ? [] : [first]
    return whatChanged(parseArgs({ args, options }).values.changed)
  }
  return first === undefined ? everything() : some([first, ...others], [first, ...others])
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
