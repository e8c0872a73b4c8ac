'use strict'

// Which spec files there are, and which of them a run takes.

const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')
/** The folders that have specs: of the main package, and of each other one. */
const FOLDERS = [
  '.',
  ...fs.readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}`),
]
  .map((folder) => path.posix.join(folder, '__test__'))
  .filter((folder) => fs.existsSync(path.join(ROOT, folder)))

/**
 * The kinds of specs, a folder each. `pure`: written profiles, exact expectations. `recording`: real
 * programs, structure and shares. `stress`: kills, churn and load, one file at a time. `fleet` and
 * `lake`: with other engines, which `npm run test:fleet` and `npm run test:lake` fetch.
 */
const KINDS = ['pure', 'recording', 'stress', 'fleet', 'lake']

/** Kinds that run one file at a time: those of `lake` start a cluster. */
const ALONE_KINDS = ['stress', 'lake']

/** Specs that run alone, and the reason. @type {Record<string, string>} */
const ALONE = {
  tsc: 'compares two runs, one after the other: both need an equally quiet machine',
}

/** The slowest specs, which start first so that the total time is short. */
const LONGEST = [
  'recipes',
  'lake-top',
  'addon-messages',
  'conditions',
  'push-own',
  'package',
  'devtools',
  'suite',
  'cli-tools',
  'speedscope',
  'monorepo',
  'runners',
  'ends',
  'api-workers',
  'hostile',
  'suspension',
]

/** Specs of recordings with the same outcome for both sources: they read, name files, or choose the source. */
const ANY_SOURCE = [
  'attach',
  'cli',
  'compare-recipe',
  'containers',
  'devtools',
  'imports',
  'inspector',
  'labels',
  'lake',
  'mcp',
  'monorepo',
  'owners',
  'package',
  'production-story',
  'programs',
  'recording/source-maps.spec.js',
  'remote',
  'run-folder',
  'stalls',
  'tools',
]

/** @param {string} file `kind/name.spec.js` */
const nameOf = (file) => path.basename(file, '.spec.js')
/** @param {string} file */
const kindOf = (file) => path.dirname(file)

/** Lists the spec files of some kinds as `kind/name.spec.js`, which is unique. @param {string[]} [kinds] */
function listSpecs(kinds = KINDS) {
  return kinds.flatMap((kind) =>
    FOLDERS.map((folder) => path.join(ROOT, folder, kind))
      .flatMap((dir) => (fs.existsSync(dir) ? fs.readdirSync(dir) : []))
      .filter((file) => file.endsWith('.spec.js'))
      .sort()
      .map((file) => `${kind}/${file}`),
  )
}

/** Returns the path of a spec file from the root. @param {string} file `kind/name.spec.js` */
function pathOf(file) {
  const found = FOLDERS.map((folder) => `${folder}/${file}`)
  return found.find((each) => fs.existsSync(path.join(ROOT, each))) ?? found[0]
}

/**
 * Selects spec files.
 * @param {object} [wanted]
 * @param {string[]} [wanted.kinds]
 * @param {string[]} [wanted.names] starts of names, or whole `kind/name.spec.js`; none: all
 * @param {string[]} [wanted.without] starts of names
 * @param {string} [wanted.source] the source of all recordings; undefined for the usual one
 */
function selectSpecs({ kinds = KINDS, names = [], without = [], source } = {}) {
  const begins = (/** @type {string} */ file) => (/** @type {string} */ name) =>
    nameOf(file).startsWith(name) || file === name
  return listSpecs(kinds)
    .filter((file) => names.length === 0 || names.some(begins(file)))
    .filter((file) => !without.some(begins(file)))
    .filter(
      (file) =>
        source === undefined || (kindOf(file) === 'recording' && !ANY_SOURCE.some(begins(file))),
    )
}

/**
 * Arranges files in groups that run one after the other: the pure ones, the recordings, and one by one
 * what needs the machine for itself.
 * @param {string[]} files
 */
function arrange(files) {
  const isAlone = (/** @type {string} */ file) =>
    ALONE_KINDS.includes(kindOf(file)) || nameOf(file) in ALONE
  const rank = (/** @type {string} */ file) => {
    const index = LONGEST.findIndex((name) => nameOf(file).startsWith(name))
    return index === -1 ? LONGEST.length : index
  }
  const shared = files.filter((file) => !isAlone(file)).sort((a, b) => rank(a) - rank(b))
  return [
    { files: shared.filter((file) => kindOf(file) === 'pure'), isAlone: false },
    { files: shared.filter((file) => kindOf(file) !== 'pure'), isAlone: false },
    { files: files.filter(isAlone), isAlone: true },
  ].filter((group) => group.files.length > 0)
}

module.exports = {
  arrange,
  listSpecs,
  pathOf,
  selectSpecs,
  ALONE,
  ANY_SOURCE,
  FOLDERS,
  KINDS,
  LONGEST,
  ROOT,
}
