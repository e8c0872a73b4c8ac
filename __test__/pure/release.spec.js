'use strict'

// scripts/release.js, with a written `dist/` and an npm that only notes how it was called.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { folderOf } = require('../../scripts/npm-package.js')
const { OTHERS } = require('../../scripts/npm/manifests.js')
const { ADDONS, TARGETS, packagesOf } = require('../../scripts/targets.js')
const { temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { write } = require('../helpers/workspace.js')

const MAIN = '@org/cpu-prof'
const PLATFORMS = Object.keys(TARGETS)
  .flatMap((target) => packagesOf(target))
  .map(({ name }) => name)
/** What needs the main package. */
const AFTER = OTHERS.map(({ manifest }) => manifest.name)
const REPOSITORY = 'org/cpu-prof'
/** Notes each publication. It has published what the file `published` names, a package a line. */
const NPM = `#!${process.execPath}
  const fs = require('node:fs')
  const path = require('node:path')
  const [command, spec, ...rest] = process.argv.slice(2)
  const file = path.join(__dirname, 'published')
  const published = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\\n') : []
  const fail = fs.existsSync(path.join(__dirname, 'fail')) && fs.readFileSync(path.join(__dirname, 'fail'), 'utf8')
  const note = (line) => fs.appendFileSync(path.join(__dirname, 'calls'), line + '\\n')
  if (command === 'view') {
    if (fail === 'view') { console.log('{"error":{"code":"E500","summary":"broken"}}'); process.exit(1) }
    if (published.includes(spec)) console.log(JSON.stringify(spec.slice(spec.lastIndexOf('@') + 1)))
    else { console.log('{"error":{"code":"E404"}}'); process.exit(1) }
  } else {
    const { name, version } = JSON.parse(fs.readFileSync('package.json', 'utf8'))
    note([name, command, spec, ...rest].join(' '))
    if (fail === name) process.exit(1)
    if (!process.argv.includes('--dry-run') && fail !== 'lost') fs.appendFileSync(file, name + '@' + version + '\\n')
  }`

/** A caller of release() that finds no fault with the addons and does not wait. */
const RELEASE = `
  const { release } = require(process.argv[1] + '/scripts/release.js')
  const faults = JSON.parse(process.env.FAULTS ?? '{}')
  const inspect = (target) => ({ problems: faults[target] ?? [] })
  try { release(JSON.parse(process.argv[2]), { times: 1, ms: 1, inspect }) } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }`

/** Writes a repository with all packages of a version, and an npm. @param {string} [version] */
function workspace(version = '1.2.3') {
  const root = temporaryDirectory()
  const manifest = { version, repository: { url: `git+https://github.com/${REPOSITORY}.git` } }
  write(root, {
    'package.json': { name: MAIN, ...manifest },
    'Cargo.toml': `[workspace]\nmembers = []\n\n[workspace.package]\nversion = "${version}"\n`,
    'CHANGELOG.md': `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-12-01\n`,
    'bin/npm': NPM,
  })
  fs.chmodSync(path.join(root, 'bin', 'npm'), 0o755)
  const dist = path.join(root, 'dist')
  /** @param {string} name @param {object} [others] */
  const put = (name, others) =>
    write(path.join(dist, folderOf(name)), { 'package.json': { name, ...manifest, ...others } })
  /** @param {string[]} names */
  const asks = (names) => Object.fromEntries(names.map((name) => [name, version]))
  /** @param {string} folder */
  const targetsOf = (folder) =>
    Object.keys(TARGETS).flatMap((target) =>
      packagesOf(target).flatMap((each) => (each.folder === folder ? [each.name] : [])),
    )
  for (const name of PLATFORMS) put(name)
  put(MAIN, { optionalDependencies: asks(targetsOf('.')), peerDependencies: asks(AFTER) })
  for (const { folder, manifest } of OTHERS) {
    put(manifest.name, {
      dependencies: asks([MAIN]),
      optionalDependencies: asks(targetsOf(folder)),
    })
  }

  /** Releases. @param {object} [options] of release() @param {Record<string, string>} [env] */
  const release = (options = {}, env = {}) => {
    const given = { root, dist, tag: `v${version}`, repository: REPOSITORY, isDry: false }
    const argument = JSON.stringify({ ...given, ...options })
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['-e', RELEASE, PACKAGE, argument],
      {
        env: { ...process.env, ...env, PATH: `${path.join(root, 'bin')}:${process.env.PATH}` },
        encoding: 'utf8',
      },
    )
    return { status, stdout, stderr, calls: calls() }
  }
  const notes = path.join(root, 'bin', 'calls')
  /** The calls since the last time. */
  const calls = () => {
    const lines = fs.existsSync(notes) ? fs.readFileSync(notes, 'utf8').trim().split('\n') : []
    fs.rmSync(notes, { force: true })
    return lines
  }
  return { root, dist, release }
}

/** @param {string[]} calls */
const namesIn = (calls) => calls.map((call) => call.split(' ', 1)[0])

test('the packages of the targets are published first, and what needs the main package last, with provenance', () => {
  const { release } = workspace()
  const { status, calls, stdout, stderr } = release()
  assert.equal(status, 0, stderr)
  assert.deepEqual(namesIn(calls), [...PLATFORMS, MAIN, ...AFTER])
  for (const call of calls) assert.match(call, / publish --access public --provenance$/)
  assert.ok(stdout.endsWith(`${AFTER.at(-1)} 1.2.3 is published\n`))
})

test('a second run publishes what is missing, and a third nothing', () => {
  const { root, release } = workspace()
  const fail = path.join(root, 'bin', 'fail')
  fs.writeFileSync(fail, PLATFORMS[3])
  const first = release()
  assert.equal(first.status, 1)
  assert.match(first.stderr, new RegExp(`failed for ${PLATFORMS[3]}; nothing after it ran`))
  assert.deepEqual(namesIn(first.calls), PLATFORMS.slice(0, 4))
  fs.rmSync(fail)
  const second = release()
  assert.equal(second.status, 0, second.stderr)
  assert.deepEqual(namesIn(second.calls), [...PLATFORMS.slice(3), MAIN, ...AFTER])
  assert.match(second.stdout, new RegExp(`^${PLATFORMS[0]} 1.2.3 is published already\n`))
  const third = release()
  assert.equal(third.status, 0, third.stderr)
  assert.deepEqual(third.calls, [])
})

test('the main package waits until the registry has the others', () => {
  const { root, release } = workspace()
  fs.writeFileSync(path.join(root, 'bin', 'fail'), 'lost')
  const { status, calls, stderr } = release()
  assert.equal(status, 1)
  assert.deepEqual(namesIn(calls), PLATFORMS)
  assert.match(
    stderr,
    /^the registry does not have @org\/cpu-prof-linux-x64-gnu, .* run this again/,
  )
})

test('nothing is published when the registry does not say what it has', () => {
  const { root, release } = workspace()
  fs.writeFileSync(path.join(root, 'bin', 'fail'), 'view')
  const { status, calls, stderr } = release()
  assert.equal(status, 1)
  assert.deepEqual(calls, [])
  assert.match(stderr, /^npm view @org\/cpu-prof-linux-x64-gnu@1\.2\.3 failed: broken/)
})

test('a dry run packs all packages, also without a tag, and publishes none', () => {
  const { root, release } = workspace()
  const { status, calls, stderr } = release({ isDry: true, tag: undefined })
  assert.equal(status, 0, stderr)
  assert.deepEqual(namesIn(calls), [...PLATFORMS, MAIN, ...AFTER])
  for (const call of calls) assert.match(call, / --dry-run$/)
  assert.ok(!fs.existsSync(path.join(root, 'bin', 'published')))
})

test('a version before a release is not the latest, and by hand there is no provenance', () => {
  const { release } = workspace('2.0.0-beta.1')
  const { status, calls, stderr } = release({ repository: undefined })
  assert.equal(status, 0, stderr)
  for (const call of calls) assert.match(call, / publish --access public --tag next$/)
})

/** What can be wrong, and what is said. @type {[string, (w: ReturnType<typeof workspace>) => [object?, Record<string, string>?] | void, RegExp][]} */
const WRONG = [
  ['no tag', () => [{ tag: undefined }], /there is no tag/],
  ['another tag', () => [{ tag: 'v1.2.4' }], /has version 1\.2\.3, and the tag has 1\.2\.4/],
  [
    'another version of Rust',
    ({ root }) => write(root, { 'Cargo.toml': '[workspace.package]\nversion = "1.0.0"\n' }),
    /Cargo\.toml has 1\.0\.0/,
  ],
  [
    'another version of a package',
    ({ dist }) =>
      write(dist, {
        'cpu-prof-win32-x64/package.json': { name: '@org/cpu-prof-win32-x64', version: '1' },
      }),
    /@org\/cpu-prof-win32-x64 in dist has 1\n/,
  ],
  [
    'no entry in the changes',
    ({ root }) => write(root, { 'CHANGELOG.md': '## [Unreleased]\n\n## [1.2.2]\n' }),
    /CHANGELOG\.md has no entry '## \[1\.2\.3\]'/,
  ],
  [
    'a missing package',
    ({ dist }) => fs.rmSync(path.join(dist, 'cpu-prof-darwin-x64'), { recursive: true }),
    /@org\/cpu-prof-darwin-x64 is not in \S+: its addons were not built/,
  ],
  [
    'a main package that does not name a target',
    ({ dist, root }) => {
      const { version, repository } = JSON.parse(fs.readFileSync(`${root}/package.json`, 'utf8'))
      const peerDependencies = Object.fromEntries(AFTER.map((name) => [name, version]))
      write(dist, {
        'cpu-prof/package.json': { name: MAIN, version, repository, peerDependencies },
      })
    },
    /@org\/cpu-prof asks for @org\/cpu-prof-linux-x64-gnu not at all/,
  ],
  [
    'no main package',
    ({ dist }) => fs.rmSync(path.join(dist, 'cpu-prof'), { recursive: true }),
    /@org\/cpu-prof is not in .*: run node scripts\/npm-package\.js/,
  ],
  [
    'a package that needs another main package',
    ({ dist }) =>
      write(dist, {
        [`${folderOf(AFTER[0])}/package.json`]: {
          name: AFTER[0],
          version: '1.2.3',
          dependencies: {},
        },
      }),
    /@org\/cpu-prof-fleet asks for @org\/cpu-prof not at all/,
  ],
  [
    'another repository',
    () => [{ repository: 'me/fork' }],
    /has the repository \S+, and this is me\/fork/,
  ],
  [
    'an addon that cannot be right',
    () => [{}, { FAULTS: JSON.stringify({ 'linux-x64-musl': ['it is for arm64'] }) }],
    /\n {2}it is for arm64/,
  ],
]

for (const [title, change, said] of WRONG) {
  test(`${title}: nothing is published`, () => {
    const made = workspace()
    const { status, calls, stderr } = made.release(...(change(made) ?? []))
    assert.equal(status, 1)
    assert.match(stderr, said)
    assert.match(stderr, /^nothing is published:\n/)
    assert.deepEqual(calls, [])
  })
}

test('the addons of a package are inspected', () => {
  const { problemsOf } = require('../../scripts/release.js')
  const { root, dist } = workspace()
  const problems = problemsOf({ root, dist, tag: 'v1.2.3', isDry: false })
  assert.equal(problems.length, ADDONS.length * Object.keys(TARGETS).length, problems.join('\n'))
  assert.match(problems[0], /^cpu-prof\.linux-x64-gnu\.node: ENOENT/)
})
