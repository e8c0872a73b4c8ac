'use strict'

// Runs the specs of recordings with one binary on every supported Node. The npm registry has Node
// itself as packages. `node scripts/matrix.js [versions]`: all unless given, `--others` for all but
// the one that runs this script, `--all` for all spec files with both sources.
// docs/internals/testing.md says which spec runs where, and why.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { installInto } = require('./npm/npm.js')
const { isJudgedLater } = require('./specs/failures.js')

const VERSIONS = [18, 20, 22, 24, 26]
/** Specs of other people's programs, which take long: `npm test` runs them on one Node. */
const ONCE = ['compare-recipe', 'devtools', 'monorepo', 'package', 'programs', 'runners', 'tsc']
/**
 * Specs that run on the oldest Node, on the newest, and in `npm test`. Those of the command line can only
 * miss what the oldest lacks, or what the newest warns about. The others are of what the addon does with
 * samples, whatever Node they come from, and of what its JavaScript does in a hostile program.
 */
const OLDEST_AND_NEWEST = [
  'cli',
  'containers',
  'emit',
  'filesystem',
  'hostile-code',
  'imports',
  'labels',
  'machine',
  'owners',
  'recording/hostile.spec.js',
  'recording/source-maps.spec.js',
  'remote',
  'run-folder',
  'segments',
  'settings',
  'stalls',
  'tools',
]
/** Specs of what depends on the source and on Node: these run with the inspector too. */
const BOTH_SOURCES = ['api', 'streaming', 'unchanged', 'workers']

const SPECS = path.join(__dirname, 'specs.js')
const root = path.join(__dirname, '..')

/**
 * Returns the path of a Node, which is fetched if it is missing.
 * @param {number} version @returns {Promise<string>}
 */
async function fetchNode(version) {
  const prefix = path.join(root, '.matrix', String(version))
  const packageName = `node-${process.platform}-${process.arch}`
  const node = path.join(prefix, 'node_modules', packageName, 'bin', 'node')
  if (fs.existsSync(node)) return node
  await installInto(prefix, `${packageName}@${version}`)
  return node
}

/** Lists the arguments of each run of specs.js on a Node. @param {number} version @param {boolean} isAll */
function runs(version, isAll) {
  if (isAll) return [[], ['--source=inspector']]
  const isInner = version !== VERSIONS[0] && version !== VERSIONS.at(-1)
  const without = isInner ? [...ONCE, ...OLDEST_AND_NEWEST] : ONCE
  return [
    ['--kind=recording', ...without.map((name) => `--without=${name}`)],
    ['--source=inspector', ...BOTH_SOURCES],
  ]
}

async function main() {
  const args = process.argv.slice(2)
  const isAll = args.includes('--all')
  const own = Number.parseInt(process.versions.node, 10)
  const given = args.filter((arg) => !arg.startsWith('--')).map(Number)
  const wanted = given.length > 0 ? given : VERSIONS
  const versions = args.includes('--others') ? wanted.filter((each) => each !== own) : wanted

  const nodes = versions.map((version) => ({ version, fetched: fetchNode(version) }))
  await Promise.allSettled(nodes.map(({ fetched }) => fetched))
  /** @type {string[]} */
  const failed = []
  for (const { version, fetched } of nodes) {
    const node = await fetched
    const name = `Node ${spawnSync(node, ['--version']).stdout.toString().trim()}`
    for (const specs of runs(version, isAll)) {
      const source = specs[0] === '--source=inspector' ? 'inspector' : 'v8'
      console.log(`\n${name}, source ${source}`)
      const { status } = spawnSync(node, [SPECS, ...specs], { stdio: 'inherit' })
      if (status !== 0) failed.push(`${name} (${source})`)
    }
  }
  const whole = isJudgedLater ? 'every Node ran; scripts/repeat.js judges' : 'every Node passed'
  console.log(failed.length === 0 ? `\n${whole}` : `\nfailed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

if (require.main === module) main()

module.exports = { VERSIONS }
