'use strict'

// The packages of the targets: what they say, what is published, and the check of built addons.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { VERSION, targetName } = require('../../lib/addon.js')
const { interpreterOf, isMusl } = require('../../lib/addon/interpreter.js')
const { commandFor } = require('../../scripts/build.js')
const { inspect, problemsOf } = require('../../scripts/inspect.js')
const { readElf } = require('../../scripts/inspect/elf.js')
const { readMachO } = require('../../scripts/inspect/macho.js')
const { readPe } = require('../../scripts/inspect/pe.js')
const { PACKAGES, platformManifest, platformReadme } = require('../../scripts/npm/manifests.js')
const {
  ADDONS,
  TARGETS,
  fileName,
  packageName,
  packagesOf,
  targetOf,
} = require('../../scripts/targets.js')
const { temporaryDirectory, PACKAGE } = require('../helpers/files.js')
const { NAME, stagedPackage } = require('../helpers/packages.js')

const NAMES = Object.keys(TARGETS)

/** Reads a library of another project, for a system that this machine need not be. @param {string} file */
const library = (file) =>
  fs.readFileSync(
    path.join(path.dirname(require.resolve('@datadog/pprof/package.json')), 'prebuilds', file),
  )
const OF_LINUX = () => library('linux-arm64/dd_pprof.node.abi115.node')
const OF_MUSL = () => library('linux-x64/dd_pprof.musl.node.abi115.node')
const OF_MACOS = () => library('darwin-arm64/dd_pprof.node.abi115.node')
const OF_WINDOWS = () => library('win32-x64/dd_pprof.node.abi115.node')

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

test('npm/ has a package of each target, as the table says', () => {
  const folders = new Set(ADDONS.map(({ folder }) => folder))
  for (const folder of folders) {
    const found = fs.readdirSync(path.join(PACKAGE, folder, 'npm'))
    assert.deepEqual(found.sort(), [...NAMES].sort())
  }
  for (const target of NAMES) {
    for (const of of packagesOf(target)) {
      const again = `${of.name} differs: node scripts/npm-package.js`
      const place = path.posix.join(of.folder, 'npm', target)
      const manifest = JSON.parse(read(`${place}/package.json`))
      assert.deepEqual(manifest, platformManifest(target, of), again)
      assert.equal(read(`${place}/README.md`), platformReadme(target, of), again)
    }
  }
})

/** Returns a line for each target whose row in docs/platforms.md is wrong, and for each row of none. @param {string} page */
function wrongRows(page) {
  const rows = new Map(
    [...page.matchAll(/^\| `([\w-]+)` +\| ([^|]*?) +\|/gm)].map(([, name, oldest]) => [
      name,
      oldest,
    ]),
  )
  const wrong = NAMES.filter((name) => {
    const { floor, env } = TARGETS[name]
    const oldest = rows.get(name)
    if (floor !== undefined) return oldest !== `glibc ${floor}`
    const macos = Number.parseFloat(env?.MACOSX_DEPLOYMENT_TARGET ?? '')
    return oldest === undefined || (macos > 0 && oldest !== `macOS ${macos}`)
  })
  return [...wrong, ...[...rows.keys()].filter((name) => !NAMES.includes(name))]
}

test('docs/platforms.md has the targets, and the oldest system of each', () => {
  const page = read('docs/platforms.md')
  assert.deepEqual(wrongRows(page), [])
  const changed = page
    .replace('| `win32-x64` ', '| `win32-ia32`')
    .replace('glibc 2.17', 'glibc 2.12')
    .replace('macOS 11 ', 'macOS 12 ')
  assert.deepEqual(wrongRows(changed), ['linux-x64-gnu', 'darwin-arm64', 'win32-x64', 'win32-ia32'])
})

test('cargo deny looks at a target of each system', () => {
  const [, list = ''] = /^targets = \[\n(.*?)\]/ms.exec(read('deny.toml')) ?? []
  const triples = [...list.matchAll(/"(.*)"/g)].map(([, triple]) => triple)
  const known = Object.values(TARGETS).filter(({ triple }) => triples.includes(triple))
  assert.equal(known.length, triples.length)
  const systems = new Set(Object.values(TARGETS).map(({ os }) => os))
  assert.deepEqual(new Set(known.map(({ os }) => os)), systems)
})

test('a target has the name that Node and npm give its system', () => {
  for (const [name, { os, cpu, libc, triple }] of Object.entries(TARGETS)) {
    const ending = libc === undefined ? '' : { glibc: '-gnu', musl: '-musl' }[libc]
    assert.equal(name, `${os}-${cpu}${ending}`)
    assert.ok(triple.startsWith(cpu === 'x64' ? 'x86_64-' : 'aarch64-'), triple)
    assert.ok(libc === undefined || triple.endsWith(ending), triple)
  }
  assert.throws(() => targetOf('constructor'), /constructor is not a target; the targets are linux/)
})

test('the version is the same everywhere', () => {
  const { version } = require('../../package.json')
  assert.equal(VERSION, version)
  for (const { manifest } of PACKAGES) assert.equal(manifest.version, version, manifest.name)
  assert.match(read('Cargo.toml'), new RegExp(`^version = "${version}"$`, 'm'))
})

test('what is published runs nothing at an install, and asks for each target of the same version', () => {
  const { version, dependencies, files } = require('../../package.json')
  const manifest = JSON.parse(
    fs.readFileSync(path.join(stagedPackage(NAME), 'package.json'), 'utf8'),
  )
  assert.deepEqual(
    manifest.optionalDependencies,
    Object.fromEntries(NAMES.map((name) => [packageName(name), version])),
  )
  assert.deepEqual(manifest.dependencies, dependencies)
  assert.equal(manifest.devDependencies, undefined)
  assert.deepEqual(
    fs.readdirSync(stagedPackage(NAME)).sort(),
    [...files, 'LICENSE', 'README.md', 'package.json'].sort(),
  )
  for (const name of [NAME, ...NAMES.map(packageName)]) {
    const published = JSON.parse(
      fs.readFileSync(path.join(stagedPackage(name), 'package.json'), 'utf8'),
    )
    assert.equal(published.scripts, undefined, name)
    assert.equal(published.private, undefined, name)
    assert.equal(published.preferUnplugged, true, name)
    assert.equal(published.version, version, name)
  }
  for (const { manifest: own } of PACKAGES.slice(1)) {
    const folder = stagedPackage(own.name)
    const published = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
    assert.equal(published.version, version)
    assert.deepEqual(published.dependencies, { ...own.dependencies, [NAME]: version })
    assert.equal(manifest.peerDependencies[own.name], version)
    assert.equal(manifest.peerDependenciesMeta[own.name].optional, true)
    assert.deepEqual(
      fs.readdirSync(folder).sort(),
      [...own.files, 'LICENSE', 'README.md', 'package.json'].sort(),
    )
  }
  const host = packageName(targetName())
  assert.ok(fs.existsSync(path.join(stagedPackage(host), 'LICENSE')))
  assert.ok(
    fs.statSync(path.join(stagedPackage(host), fileName('cpu-prof', targetName()))).size > 1e5,
  )
  // A clone installs nothing that is not published yet.
  assert.equal(Reflect.get(require('../../package.json'), 'optionalDependencies'), undefined)
})

test('Zig links for other systems and for old ones, and the tools of the machine for itself', () => {
  const { command, variables } = commandFor('linux-x64-gnu')
  assert.deepEqual(command, ['zigbuild', '--lib', '--target', 'x86_64-unknown-linux-gnu.2.17'])
  assert.deepEqual(variables, {})
  const musl = commandFor('linux-arm64-musl')
  assert.ok(musl.command.includes('aarch64-unknown-linux-musl'))
  assert.match(musl.variables.RUSTFLAGS, /-C target-feature=-crt-static$/)
  const windows = commandFor('win32-x64', 'x86_64-pc-windows-gnu')
  assert.ok(windows.command.includes('x86_64-pc-windows-gnu'))
  const macos = commandFor('darwin-x64')
  assert.deepEqual(macos.variables, { MACOSX_DEPLOYMENT_TARGET: '11.0' })
  assert.equal(macos.command[0], process.platform === 'darwin' ? 'build' : 'zigbuild')
})

test('the readers tell what libraries of the three systems need', () => {
  const linux = readElf(OF_LINUX())
  assert.equal(linux.cpu, 'arm64')
  assert.ok(linux.libraries.includes('libc.so.6'))
  const versioned = linux.imports.filter(({ version }) => version?.startsWith('GLIBC_'))
  assert.ok(versioned.some(({ name }) => name === 'memcpy'))
  assert.ok(linux.imports.some(({ name, version }) => name === 'uv_unref' && !version))
  assert.ok(linux.imports.some(({ isWeak }) => isWeak))

  const macos = readMachO(OF_MACOS())
  assert.deepEqual(macos.libraries, ['/usr/lib/libc++.1.dylib', '/usr/lib/libSystem.B.dylib'])
  assert.deepEqual([macos.cpu, macos.system], ['arm64', '11.0'])
  const libraryOf = (/** @type {string} */ wanted) =>
    macos.imports.find(({ name }) => name === wanted)?.library
  assert.equal(libraryOf('_memcpy'), '/usr/lib/libSystem.B.dylib')
  assert.equal(libraryOf('_uv_unref'), undefined)

  assert.deepEqual(readPe(OF_WINDOWS()), { cpu: 'x64', libraries: ['KERNEL32.dll', 'node.exe'] })
})

for (const [what, bytes, target, changes, expected] of /** @type {const} */ ([
  ['another processor', OF_LINUX, 'linux-x64-gnu', {}, /^it is for arm64$/],
  [
    'a library that not every system has',
    OF_LINUX,
    'linux-arm64-gnu',
    {},
    /^it needs libstdc\+\+\.so\.6, which not every system has$/,
  ],
  [
    'a newer glibc',
    OF_LINUX,
    'linux-arm64-gnu',
    { floor: '2.9' },
    /^it needs .*\bmemcpy\b.* of glibc 2\.17, and glibc 2\.9 must be enough$/,
  ],
  [
    'a symbol that the linker found nowhere',
    OF_LINUX,
    'linux-arm64-gnu',
    {},
    /^it needs .*\b_ZN2v812api_internal13DisposeGlobalEPm\b.* of no library that it names, and glibc/,
  ],
  [
    'glibc where musl is',
    OF_LINUX,
    'linux-arm64-musl',
    {},
    /^it needs .*\bmemcpy\b.* of glibc, and musl must be enough$/,
  ],
  [
    'a symbol in no library of macOS',
    OF_MACOS,
    'darwin-arm64',
    {},
    /^it needs .*\b__ZN2v810CpuProfile6DeleteEv\b.*, of no library that it names$/,
  ],
  [
    'a newer macOS',
    OF_MACOS,
    'darwin-arm64',
    { env: { MACOSX_DEPLOYMENT_TARGET: '10.15' } },
    /^it needs macOS 11\.0, and 10\.15 must be enough$/,
  ],
  [
    'a library that Windows lacks',
    OF_WINDOWS,
    'win32-x64',
    {},
    /^it needs node\.exe, which not every system has$/,
  ],
])) {
  test(`an addon may not need ${what}`, () => {
    const problems = problemsOf(bytes(), { ...TARGETS[target], ...changes })
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      problems.join('\n'),
    )
  })
}

test('macOS loads a library only with a signature that fits', () => {
  const problems = (/** @type {Buffer} */ bytes) =>
    problemsOf(bytes, TARGETS['darwin-arm64']).filter((problem) => /signature/.test(problem))
  const { signature } = readMachO(OF_MACOS())
  assert.ok(signature !== undefined)
  assert.deepEqual(problems(OF_MACOS()), [])
  const changed = OF_MACOS()
  changed[signature.offset - 1] ^= 1
  assert.match(problems(changed)[0], /^its signature does not fit its bytes from \d+ on: it was/)
  const damaged = OF_MACOS()
  damaged[signature.offset] ^= 1
  assert.deepEqual(problems(damaged), ['its signature cannot be read'])
  const unsigned = OF_MACOS()
  for (let at = 32; ; at += unsigned.readUInt32LE(at + 4)) {
    if (unsigned.readUInt32LE(at) !== 0x1d) continue
    unsigned.writeUInt32LE(0x1e, at)
    break
  }
  assert.deepEqual(problems(unsigned), ['it has no signature'])
  assert.deepEqual(
    problemsOf(unsigned, { ...TARGETS['darwin-arm64'], cpu: 'x64' }).filter((problem) =>
      /signature/.test(problem),
    ),
    [],
  )
})

test('what Node exports, and what glibc has had for long, an addon may need', () => {
  const problems = problemsOf(OF_LINUX(), { ...TARGETS['linux-arm64-gnu'], floor: '2.28' })
  assert.ok(
    !problems.some((problem) => /\bnapi_|\buv_|of glibc/.test(problem)),
    problems.join('\n'),
  )
})

test('an addon has the format of its system, and a bounded size', () => {
  assert.throws(
    () => problemsOf(OF_MUSL(), TARGETS['darwin-x64']),
    /it is no library of macOS on Intel/,
  )
  assert.throws(() => problemsOf(Buffer.from('text'), TARGETS['linux-x64-gnu']), /no library/)
  for (const { mostBytes: most } of ADDONS) {
    const padded = Buffer.concat([OF_MUSL(), Buffer.alloc(most)])
    assert.match(
      problemsOf(padded, TARGETS['linux-x64-musl'], most)[0],
      new RegExp(`^it has \\d+\\.\\d\\d MB, more than ${(most / 1e6).toFixed(2)} MB`),
    )
  }
  const dir = temporaryDirectory()
  const { problems } = inspect('win32-x64', dir)
  assert.equal(problems.length, ADDONS.length)
  assert.match(problems[0], /^cpu-prof\.win32-x64\.node: ENOENT/)
})

/** Writes an executable of 64 bits that asks for a loader. @param {string} name @param {string} loader */
function executable(name, loader) {
  const bytes = Buffer.alloc(8192)
  bytes.write('\x7fELF\x02\x01', 'latin1')
  bytes.writeBigUInt64LE(5000n, 32)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(2, 56)
  bytes.writeUInt32LE(6, 5000)
  bytes.writeUInt32LE(3, 5056)
  bytes.writeBigUInt64LE(7000n, 5056 + 8)
  bytes.writeBigUInt64LE(BigInt(loader.length + 1), 5056 + 32)
  bytes.write(loader, 7000)
  const file = path.join(temporaryDirectory(), name)
  fs.writeFileSync(file, bytes)
  return file
}

test('the loader of an executable tells the libc', () => {
  const musl = executable('node', '/lib/ld-musl-x86_64.so.1')
  assert.equal(interpreterOf(musl), '/lib/ld-musl-x86_64.so.1')
  assert.equal(isMusl(musl), true)
  assert.equal(isMusl(executable('musl-node', '/lib64/ld-linux-x86-64.so.2')), false)
  // The loader itself, which the name tells, and files that are no executable.
  const dir = temporaryDirectory()
  const write = (/** @type {string} */ name, /** @type {string | Buffer} */ text) => {
    fs.writeFileSync(path.join(dir, name), text)
    return path.join(dir, name)
  }
  assert.equal(isMusl(write('ld-musl-aarch64.so.1', OF_MUSL())), true)
  assert.equal(isMusl(write('libc.so', OF_MUSL())), true)
  assert.equal(isMusl(write('ld-2.31.so', OF_MUSL())), false)
  assert.equal(isMusl(write('node', '\x7fELF\x02\x01')), false)
  assert.equal(isMusl(write('script', '#!/bin/sh')), false)
  assert.equal(isMusl(path.join(dir, 'absent')), false)
})

test('this machine has a target', { skip: process.platform !== 'linux' && 'Linux only' }, () => {
  assert.ok(NAMES.includes(targetName()))
  assert.match(interpreterOf(process.execPath) ?? '', /\/ld-/)
})
