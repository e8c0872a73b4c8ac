'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { PACKAGE } = require('../helpers/files.js')

// The rules of ARCHITECTURE.md for the JavaScript that ships.

const ENTRIES = ['index.js', 'register.js']
const FOLDERS = ['bin', 'cli', 'lib']
const MAX_LINES = 400

/** @typedef {{ target: string, isTopLevel: boolean }} Require the target is a file, a package or `node:…` */
/** @typedef {Map<string, Require[]>} Graph the requires of each file */

/**
 * Returns a line for each break of a rule.
 * @param {Record<string, string>} sources by path, relative to the package
 */
function problemsIn(sources) {
  const graph = new Map(
    Object.entries(sources).map(([file, source]) => [file, requiresOf(file, source)]),
  )
  return [
    ...upwardRequires(graph),
    ...cycles(graph),
    ...heavyPreload(graph),
    ...outOfBrowser(graph),
    ...Object.entries(sources).flatMap(([file, source]) => wrongForm(file, source)),
  ]
}

/** @param {Graph} graph */
function upwardRequires(graph) {
  return [...graph].flatMap(([file, requires]) =>
    requires
      .filter(({ target }) => file.startsWith('lib/') && /^(cli|bin)\//.test(target))
      .map(({ target }) => `${file} requires ${target}`),
  )
}

/** @param {Graph} graph */
function cycles(graph) {
  /** @type {string[]} */
  const found = []
  const done = new Set()
  /** @param {string} file @param {string[]} trail */
  const visit = (file, trail) => {
    if (trail.includes(file)) {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(file)), file].join(' > ')}`)
      return
    }
    if (done.has(file)) return
    for (const { target } of graph.get(file) ?? []) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}

/** Follows the files that a preload loads, and finds requires of other packages. @param {Graph} graph */
function heavyPreload(graph) {
  /** @type {string[]} */
  const found = []
  const loaded = new Set(ENTRIES)
  for (const file of loaded) {
    for (const { target, isTopLevel } of graph.get(file) ?? []) {
      if (!target.startsWith('lib/') && !target.startsWith('node:')) {
        found.push(`the preload path: ${file} requires ${target}`)
      }
      if (isTopLevel) loaded.add(target)
    }
  }
  return found
}

/** Finds what the HTML report requires and a browser does not have. @param {Graph} graph */
function outOfBrowser(graph) {
  return [...graph].flatMap(([file, requires]) =>
    requires
      .filter(({ target }) => file.startsWith('cli/page/') && !target.startsWith('cli/page/'))
      .filter(({ target }) => target !== 'cli/terminal/units.js')
      .map(({ target }) => `the page: ${file} requires ${target}`),
  )
}

/** @param {string} file @param {string} source */
function wrongForm(file, source) {
  const lines = source.trimEnd().split('\n')
  const [strict, empty, header, after] = lines[0].startsWith('#!') ? lines.slice(1) : lines
  const hasHeader =
    strict === "'use strict'" && empty === '' && /^\/\/ \S.*\.$/.test(header) && after === ''
  return [
    ...(hasHeader ? [] : [`${file} has no one-line comment about its job after 'use strict'`]),
    ...(lines.length > MAX_LINES ? [`${file} has ${lines.length} lines`] : []),
  ]
}

/** @param {string} file @param {string} source @returns {Require[]} */
function requiresOf(file, source) {
  /** @type {Require[]} */
  const found = []
  /** @param {import('typescript').Node} node @param {boolean} isTopLevel */
  const visit = (node, isTopLevel) => {
    const target = ts.isCallExpression(node) ? targetOf(file, node) : undefined
    if (target !== undefined) found.push({ target, isTopLevel })
    const isInner = isTopLevel && !ts.isFunctionLike(node)
    ts.forEachChild(node, (child) => visit(child, isInner))
  }
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS), true)
  return found
}

/** @param {string} file @param {import('typescript').CallExpression} call */
function targetOf(file, { expression, arguments: [argument] }) {
  const isRequire = ts.isIdentifier(expression) && expression.text === 'require'
  const isImport = expression.kind === ts.SyntaxKind.ImportKeyword
  if (!isRequire && !isImport) return undefined
  if (argument === undefined || !ts.isStringLiteralLike(argument)) return '(computed)'
  const { text } = argument
  return text.startsWith('.') ? path.posix.join(path.posix.dirname(file), text) : text
}

/** Returns the JavaScript that ships, by path. */
function shippedSources() {
  const files = FOLDERS.flatMap((folder) => filesIn(folder))
    .filter((file) => file.endsWith('.js'))
    .concat(ENTRIES)
  return Object.fromEntries(
    files.map((file) => [file, fs.readFileSync(path.join(PACKAGE, file), 'utf8')]),
  )
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  return fs.readdirSync(path.join(PACKAGE, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesIn(name) : [name]
  })
}

test('the JavaScript that ships follows the rules', () => {
  const sources = shippedSources()
  assert.ok(Object.keys(sources).length > 20)
  assert.deepEqual(problemsIn(sources), [])
})

/** Returns a small tree that keeps every rule, with some files changed. */
function tree(changes = {}) {
  const head = "'use strict'\n\n// Does its job.\n\n"
  const bodies = {
    'index.js': "const a = require('./lib/a.js')\nfunction f() { return require('./lib/b.js') }\n",
    'register.js': "require('./lib/a.js')\n",
    'lib/a.js': "const fs = require('node:fs')\n",
    'lib/b.js': "const library = require('library')\nconst a = require('./a.js')\n",
    'cli/main.js': "const library = require('library')\nconst index = require('../index.js')\n",
    'bin/cpu-prof.js': "require('../cli/main.js').main()\n",
    ...changes,
  }
  return Object.fromEntries(Object.entries(bodies).map(([file, body]) => [file, head + body]))
}

for (const [
  rule,
  changes,
  expected,
] of /** @type {[string, Record<string, string>, string[]][]} */ ([
  ['no break in a correct tree', {}, []],
  [
    'a file in lib/ that requires cli/',
    { 'lib/b.js': "function f() {\n  require('../cli/c.js')\n}\n", 'cli/c.js': 'f()\n' },
    ['lib/b.js requires cli/c.js'],
  ],
  [
    'a cycle, even if one require is inside a function',
    { 'lib/b.js': "require('./c.js')\n", 'lib/c.js': "const f = () => require('./b.js')\n" },
    ['cycle: lib/b.js > lib/c.js > lib/b.js'],
  ],
  [
    'a library in a file that the preload loads',
    { 'lib/a.js': "require('./b.js')\n", 'lib/b.js': "const library = require('library')\n" },
    ['the preload path: lib/b.js requires library'],
  ],
  [
    'a computed path in the preload path',
    { 'lib/a.js': 'require(process.env.FILE)\n' },
    ['the preload path: lib/a.js requires (computed)'],
  ],
  [
    'a file of the HTML report that requires what a browser lacks',
    { 'cli/page/main.js': "require('node:fs')\nrequire('./a.js')\n", 'cli/page/a.js': 'f()\n' },
    ['the page: cli/page/main.js requires node:fs'],
  ],
  [
    'a file of more than 400 lines',
    { 'cli/long.js': 'f()\n'.repeat(400) },
    ['cli/long.js has 404 lines'],
  ],
])) {
  test(`the check finds ${rule}`, () => {
    assert.deepEqual(problemsIn(tree(changes)), expected)
  })
}

test('the check finds a file without a one-line comment about its job', () => {
  for (const source of [
    "'use strict'\n\nconst fs = require('node:fs')\n",
    "'use strict'\n\n// Starts with one line\n// and goes on.\n",
    '// Does its job.\n\nf()\n',
  ]) {
    const expected = "lib/c.js has no one-line comment about its job after 'use strict'"
    assert.deepEqual(problemsIn({ ...tree(), 'lib/c.js': source }), [expected])
  }
})
