'use strict'

// Which tests a change of files touches: `npm test -- --changed`.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { listSpecs, DIR, KINDS, ROOT } = require('./files.js')

/**
 * What a change touches: spec files by the starts of their names, whole kinds, and Rust tests by parts of
 * their paths. A file below `__test__/` touches the specs that name it. All other files touch everything.
 * @type {{ files: RegExp, names?: string[], kinds?: string[], rust?: string[] }[]}
 */
const RULES = [
  { files: /^src\/tools\/check\//, names: ['check'], rust: ['check'] },
  { files: /^src\/tools\/compare\//, names: ['compare', 'cli-repeat'], rust: ['compare'] },
  {
    files: /^src\/tools\/convert\//,
    names: ['convert', 'filters', 'speedscope'],
    rust: ['convert'],
  },
  {
    files: /^src\/tools\/merge\//,
    names: ['merge', 'cli-merged', 'filters', 'foreign', 'segments', 'tools'],
    rust: ['merge'],
  },
  {
    files: /^src\/tools\/(report|page)\//,
    names: ['report', 'cli-report', 'imports', 'owners', 'stalls', 'machine', 'tools'],
    rust: ['report', 'page'],
  },
  { files: /^src\/tools\/follow\//, names: ['follower', 'top'], rust: ['follow'] },
  {
    files: /^src\/recorder\//,
    kinds: ['recording', 'stress'],
    rust: ['sampler', 'record'],
  },
  {
    files: /^src\/tools\/read\//,
    kinds: ['pure'],
    names: ['source-maps', 'tools'],
    rust: ['read', 'merge', 'report', 'convert', 'compare', 'check', 'follow'],
  },
  { files: /^cli\/(live|top)\//, names: ['follower', 'top'] },
  { files: /^cli\/mcp\//, names: ['mcp'] },
  { files: /^cli\/page\//, names: ['report-html', 'compare-html'] },
  { files: /^cli\/report\//, names: ['report', 'cli-report', 'machine'] },
  { files: /^cli\/compare\//, names: ['compare', 'cli-repeat'] },
  {
    files: /^cli\/(attach|control|record|remote|system)\//,
    names: ['attach', 'control', 'missing', 'production-story', 'remote'],
  },
  {
    files: /^cli\/(run|system)\//,
    names: [
      'cli-merged',
      'cli-missing',
      'cli-repeat',
      'cli-run',
      'cli-signals',
      'hosts',
      'mcp-record',
      'missing',
      'run-folder',
      'run-paths',
      'system',
    ],
  },
  {
    files: /^cli\//,
    names: ['cli', 'check', 'compare', 'convert', 'docs', 'mcp', 'merge', 'report', 'run-folder'],
  },
  {
    files: /^lib\/(compare|compare-rules|runs)\.js$/,
    names: ['compare', 'cli-repeat', 'report-runs'],
  },
  { files: /^lib\/(timings|events)\.js$/, names: ['emit', 'timings', 'unchanged', 'devtools'] },
  { files: /^lib\/(preload|record|worker-attach|inspector-sampler)\.js$/, kinds: ['recording'] },
  { files: /^lib\/addon(\/|\.js$)/, names: ['addon', 'mcp', 'package', 'preload', 'targets'] },
  { files: /^npm\//, names: ['targets'] },
  {
    files: /^scripts\/(inspect|npm\/|npm-package|package-managers|targets)/,
    names: ['addon', 'package', 'targets'],
  },
  { files: /^scripts\/programs/, names: ['programs'] },
  { files: /^scripts\/(specs|repeat|test|matrix)/, names: ['suite'] },
  { files: /^scripts\/(release|lint-workflows)|^\.github\//, names: ['release', 'workflows'] },
  { files: /^(bench|examples)\//, names: ['architecture'] },
  { files: /^docs\/got-slower\.md$/, names: ['compare-recipe', 'docs'] },
  { files: /^docs\/labels\.md$/, names: ['opentelemetry', 'docs'] },
  { files: /^docs\/slow-tests\.md$/, names: ['runners', 'docs'] },
  { files: /\.md$|^docs\/|^LICENSE$/, names: ['architecture', 'docs'] },
]

/**
 * Lists the tests that a change of files touches: spec files as `kind/name.spec.js`, and parts of the
 * paths of Rust tests. `isAll`: a file is of no rule, so everything is touched.
 * @param {string[]} changed paths from the root
 */
function touchedBy(changed) {
  /** @type {Set<string>} */
  const specs = new Set()
  /** @type {Set<string>} */
  const rust = new Set()
  const all = listSpecs()
  for (const file of changed) {
    if (file.startsWith('__test__/')) {
      for (const spec of specsThatName(file, all)) specs.add(spec)
      continue
    }
    const rule = RULES.find(({ files }) => files.test(file))
    if (rule === undefined) return { isAll: true, specs: all, rust: [] }
    const { names = [], kinds = [], rust: tests = [] } = rule
    for (const spec of all) {
      const isNamed = names.some((name) => path.basename(spec).startsWith(name))
      if (isNamed || kinds.includes(path.dirname(spec))) specs.add(spec)
    }
    for (const test of tests) rust.add(test)
  }
  return { isAll: false, specs: [...specs].sort(), rust: [...rust].sort() }
}

/** Returns the specs that a file of `__test__/` is, or that name it, also by a helper. @param {string} file @param {string[]} all */
function specsThatName(file, all) {
  const inside = file.slice('__test__/'.length)
  if (all.includes(inside)) return [inside]
  const [folder, name] = inside.split('/')
  if (name === undefined || KINDS.includes(folder)) return []
  const isNaming = (/** @type {string} */ text) =>
    text.includes(`${folder}/${name}`) || text.includes(`'${name}'`) || text.includes(`./${name}`)
  const helpers = filesOf('helpers').filter((helper) => helper !== inside && isNaming(read(helper)))
  const direct = all.filter((spec) => isNaming(read(spec)))
  if (folder !== 'helpers' && helpers.length === 0) return direct
  const known = new Set([inside, ...helpers])
  // A helper can need another one that was changed.
  for (const helper of known) {
    for (const other of filesOf('helpers')) {
      if (read(other).includes(`./${path.basename(helper)}`)) known.add(other)
    }
  }
  const names = [...known].map((helper) => path.basename(helper))
  const isUsing = (/** @type {string} */ spec) =>
    names.some((helper) => read(spec).includes(`helpers/${helper}`))
  return [...new Set([...direct, ...all.filter(isUsing)])]
}

/** @param {string} folder */
const filesOf = (folder) =>
  fs.readdirSync(path.join(DIR, folder)).map((name) => `${folder}/${name}`)

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(DIR, file), 'utf8')

/**
 * Lists the files that differ from a commit: by default from the branch that this one follows, or else
 * from the last commit.
 * @param {string} [base]
 */
function changedFiles(base) {
  const git = (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`)
    return stdout.split('\n').filter((line) => line !== '')
  }
  const upstream = spawnSync('git', ['merge-base', 'HEAD', '@{upstream}'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const from = base ?? (upstream.status === 0 ? upstream.stdout.trim() : 'HEAD')
  const different = git('diff', '--name-only', '--no-renames', from)
  return [...different, ...git('ls-files', '--others', '--exclude-standard')]
}

module.exports = { changedFiles, touchedBy, RULES }
