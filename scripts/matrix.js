'use strict'

// Runs the spec files with the one binary on every Node that is supported. The npm registry has
// Node itself as packages.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const VERSIONS = [18, 20, 22, 24, 26]
/** Other people's programs, which take long: one Node will do, unless all are asked for (`--all`). */
const ONCE = ['cli-merged', 'devtools', 'monorepo', 'package', 'runners', 'speedscope', 'tsc']
/** What depends on where samples come from: these run with the inspector too. */
const BOTH_SOURCES = ['api', 'inspector', 'streaming', 'unchanged', 'workers']

const root = path.join(__dirname, '..')
const args = process.argv.slice(2)
const isAll = args.includes('--all')
const wanted = args.filter((arg) => arg !== '--all').map(Number)

/** @param {number} version @returns {string} */
function fetchNode(version) {
  const prefix = path.join(root, '.matrix', String(version))
  const packageName = `node-${process.platform}-${process.arch}`
  const node = path.join(prefix, 'node_modules', packageName, 'bin', 'node')
  if (fs.existsSync(node)) return node
  fs.mkdirSync(prefix, { recursive: true })
  fs.writeFileSync(path.join(prefix, 'package.json'), '{}')
  const install = ['install', '--no-save', '--no-package-lock', '--prefix', prefix]
  const { status } = spawnSync('npm', [...install, `${packageName}@${version}`], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`Node ${version} could not be fetched`)
  return node
}

/** @type {string[]} */
const failed = []
for (const version of wanted.length > 0 ? wanted : VERSIONS) {
  const node = fetchNode(version)
  console.log(`\nNode ${version}: ${spawnSync(node, ['--version']).stdout}`)
  const without = ONCE.map((name) => `--without=${name}`)
  for (const specs of isAll
    ? [[], ['--source=inspector']]
    : [without, ['--source=inspector', ...BOTH_SOURCES]]) {
    const command = [path.join(__dirname, 'test.js'), node, ...specs]
    const { status } = spawnSync(process.execPath, command, { stdio: 'inherit' })
    if (status !== 0) failed.push(`${version} (${specs[0] ?? 'v8'})`)
  }
}
console.log(failed.length === 0 ? '\nevery Node passed' : `\nfailed on Node ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
