'use strict'

// Checks built addons: `node scripts/inspect.js <target…>` looks at their format, at their size, and at
// what they need from the system that loads them. `--dir <folder>` has all of them, instead of the folders of their packages.
//
// The three formats are read by small readers of our own: no maintained npm package reads all three, and
// the usual tools (readelf, otool, dumpbin) are each on one system only.

const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { isElf, readElf } = require('./inspect/elf.js')
const { isMachO, readMachO } = require('./inspect/macho.js')
const { isPe, readPe } = require('./inspect/pe.js')
const { signatureProblem } = require('./inspect/signature.js')
const { ADDONS, fileName, targetOf } = require('./targets.js')

/** @typedef {import('./targets.js').Target} Target */

const ROOT = path.join(__dirname, '..')

/** What an addon has in it that was built as it is published: `BUILD` of src/core/base/build_kind.rs. */
const PUBLISHED = 'cpu-prof-build:published'

/** The libraries that every system of a kind has. */
const LIBRARIES = {
  glibc: /^(lib(c|m|rt|dl|pthread|util|gcc_s)\.so\.\d|ld-linux-(x86-64|aarch64)\.so\.\d)$/,
  // Node itself needs libgcc_s there.
  musl: /^(libc\.so|libc\.musl-(x86_64|aarch64)\.so\.1|libgcc_s\.so\.1)$/,
  darwin: /^\/usr\/lib\/libSystem\.B\.dylib$/,
  // Not vcruntime140.dll, which Windows lacks.
  win32:
    /^((kernel32|ntdll|advapi32|bcrypt|bcryptprimitives|ws2_32|userenv|psapi|dbghelp|shell32|ole32|msvcrt|ucrtbase)\.dll|api-ms-win-\S+\.dll)$/i,
}
/** What Node exports to addons. The names have an underscore more on macOS. */
const OF_NODE = /^_?(napi|node_api|uv)_/

/**
 * Returns what is wrong with an addon, a line each.
 * @param {Buffer} bytes @param {Target} target
 * @param {number} [most] bytes @param {Needs} [needs] what was read of it
 * @returns {string[]}
 */
function problemsOf(bytes, target, most = ADDONS[0].mostBytes, needs = needsOf(bytes, target)) {
  const problems = []
  if (bytes.length > most) {
    problems.push(`it has ${megabytes(bytes.length)}, more than ${megabytes(most)}`)
  }
  const { cpu, libraries, others } = needs
  if (cpu !== target.cpu) problems.push(`it is for ${cpu ?? 'another processor'}`)
  const known = LIBRARIES[target.libc ?? /** @type {'darwin' | 'win32'} */ (target.os)]
  for (const library of libraries.filter((name) => !known.test(name))) {
    problems.push(`it needs ${library}, which not every system has`)
  }
  return [...problems, ...others]
}

/**
 * Reads what an addon needs, and what of that is wrong beside its libraries. Throws if the file has another
 * format.
 * @typedef {{ cpu?: string, libraries: string[], others: string[] }} Needs
 * @param {Buffer} bytes @param {Target} target @returns {Needs}
 */
function needsOf(bytes, target) {
  if (target.os === 'linux' && isElf(bytes)) {
    const { imports, ...rest } = readElf(bytes)
    return { ...rest, others: target.floor ? newerThan(target.floor, imports) : ofGlibc(imports) }
  }
  if (target.os === 'darwin' && isMachO(bytes)) return machNeeds(bytes, target)
  if (target.os === 'win32' && isPe(bytes)) return { ...readPe(bytes), others: [] }
  throw new Error(`it is no library of ${target.title}`)
}

/** @typedef {ReturnType<typeof readElf>['imports']} ElfImports */

/** Lists what a glibc does not have, a line for each newer version. @param {string} floor @param {ElfImports} imports */
function newerThan(floor, imports) {
  /** Symbols by the version that has them; the linker found those without a version in no library. @type {Map<string, string[]>} */
  const newer = new Map()
  for (const { name, isWeak, version } of imports) {
    const needed = /^GLIBC_(\d[\d.]*)$/.exec(version ?? '')?.[1]
    const isNewer = needed !== undefined && compareVersions(needed, floor) > 0
    // What Node exports is found when the addon is loaded.
    const isUnknown = version === undefined && !isWeak && !OF_NODE.test(name)
    if (!isNewer && !isUnknown) continue
    const place = needed === undefined ? 'no library that it names' : `glibc ${needed}`
    newer.set(place, [...(newer.get(place) ?? []), name])
  }
  return [...newer].map(
    ([place, names]) =>
      `it needs ${names.join(', ')} of ${place}, and glibc ${floor} must be enough`,
  )
}

/** Lists symbols that a system without glibc lacks. @param {ElfImports} imports */
function ofGlibc(imports) {
  const names = imports.filter(({ version }) => version?.startsWith('GLIBC_'))
  if (names.length === 0) return []
  return [`it needs ${names.map(({ name }) => name).join(', ')} of glibc, and musl must be enough`]
}

/** @param {Buffer} bytes @param {Target} target */
function machNeeds(bytes, { cpu, env }) {
  const { system = '', imports, signature, ...rest } = readMachO(bytes)
  const unknown = imports.filter(
    ({ name, library }) => library === undefined && !OF_NODE.test(name),
  )
  const others =
    unknown.length === 0
      ? []
      : [`it needs ${unknown.map(({ name }) => name).join(', ')}, of no library that it names`]
  const oldest = env?.MACOSX_DEPLOYMENT_TARGET ?? ''
  if (system === '' || compareVersions(system, oldest) > 0) {
    others.push(`it needs macOS ${system || '(of no version)'}, and ${oldest} must be enough`)
  }
  // Intel loads a library without a signature.
  if (signature !== undefined || cpu === 'arm64') {
    const problem = signatureProblem(bytes, signature)
    if (problem !== undefined) others.push(problem)
  }
  return { ...rest, others }
}

/** @param {string} a @param {string} b */
function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true })
}

/** @param {number} bytes */
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`

/**
 * Checks addons of a target. Returns a line about each, and a line for each problem.
 * @param {string} name of the target @param {string} [dir] the folder that has all of them; default: of each the
 *   folder of its package
 * @param {import('./targets.js').Addon[]} [addons]
 */
function inspect(name, dir, addons = ADDONS) {
  const target = targetOf(name)
  /** @type {string[]} */
  const report = []
  /** @type {string[]} */
  const problems = []
  for (const addon of addons) {
    const file = fileName(addon.name, name)
    try {
      const bytes = fs.readFileSync(path.join(dir ?? path.join(ROOT, addon.folder), file))
      const needs = needsOf(bytes, target)
      const found = problemsOf(bytes, target, addon.mostBytes, needs)
      if (!bytes.includes(PUBLISHED))
        found.unshift('it is a build for tests (or of another program)')
      problems.push(...found.map((problem) => `${file}: ${problem}`))
      report.push(`${file}: ${megabytes(bytes.length)}, needs ${needs.libraries.join(', ')}`)
    } catch (error) {
      problems.push(`${file}: ${/** @type {Error} */ (error).message}`)
    }
  }
  return { report, problems }
}

function main() {
  const options = /** @type {const} */ ({ dir: { type: 'string' } })
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (positionals.length === 0) throw new Error('name a target: node scripts/inspect.js <target…>')
  for (const name of positionals) {
    const { report, problems } = inspect(name, values.dir)
    for (const line of report) console.log(line)
    for (const line of problems) console.error(line)
    if (problems.length > 0) process.exitCode = 1
  }
}

if (require.main === module) main()

module.exports = { inspect, problemsOf }
