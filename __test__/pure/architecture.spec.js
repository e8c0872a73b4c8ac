'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const ts = require('typescript')
const { files } = require('../../package.json')
const { OTHERS } = require('../../scripts/npm/manifests.js')
const { PACKAGE } = require('../helpers/files.js')

// The rules of ARCHITECTURE.md for the JavaScript that ships.

const ENTRIES = files.filter((file) => file.endsWith('.js'))
const FOLDERS = files.filter((file) => !file.includes('.'))
/** What runs in a browser, and what it may require besides its own files. */
const PAGE = 'cli/page'
const PAGE_MAY_REQUIRE = ['cli/terminal/path-text.js', 'cli/terminal/units.js']
/** The options and help of all commands. They are loaded for each command, so they load little. */
const COMMANDS = 'cli/commands'
const COMMANDS_MAY_LOAD = ['cli/options.js', 'lib/packages.js', 'lib/settings.js']
const PARSER = 'commander'
/** What another package may require of the main one. */
const ENTRIES_OF_MAIN = ['@org/cpu-prof', '@org/cpu-prof/own-packages']
/** What depends on the system, of all that the command line runs. */
const SYSTEM = 'cli/system'
/** The paths that the rules name. */
const NAMED = [
  ...ENTRIES,
  ...FOLDERS,
  PAGE,
  ...PAGE_MAY_REQUIRE,
  COMMANDS,
  ...COMMANDS_MAY_LOAD,
  SYSTEM,
]
const MAX_LINES = 600

/** @typedef {{ target: string, isTopLevel: boolean }} Require the target is a file, a package or `node:…` */
/** @typedef {Map<string, Require[]>} Graph the requires of each file */

/**
 * Returns a line for each break of a rule.
 * @param {Record<string, string>} sources by path, relative to the package
 */
function problemsIn(sources) {
  const files = Object.keys(sources)
  const scripts = Object.entries(sources).filter(([file]) => file.endsWith('.js'))
  const graph = new Map(scripts.map(([file, source]) => [file, requiresOf(file, source)]))
  return [
    ...upwardRequires(graph),
    ...roomCycles(graph),
    ...heavyPreload(graph),
    ...heavyCommands(graph),
    ...outOfBrowser(graph),
    ...outOfPackage(graph),
    ...scripts.flatMap(([file, source]) => wrongForm(file, source)),
    ...scripts.flatMap(([file, source]) => scatteredSystem(file, source)),
    ...missingPaths(files),
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

/**
 * Finds rooms of one folder that require each other in a cycle. A room is a file, or a folder with all
 * that is in it.
 * @param {Graph} graph
 */
function roomCycles(graph) {
  /** The rooms that each room requires, by the folder that has both. @type {Map<string, Map<string, Set<string>>>} */
  const folders = new Map()
  for (const [file, requires] of graph) {
    for (const { target } of requires.filter(({ target }) => graph.has(target))) {
      const [folder, from, to] = roomsOf(file, target)
      const rooms = folders.get(folder) ?? new Map()
      folders.set(folder, rooms.set(from, (rooms.get(from) ?? new Set()).add(to)))
    }
  }
  return [...folders.values()].flatMap(cycles)
}

/** Returns the innermost folder that has both files, and the room of each in that folder. @param {string} file @param {string} other */
function roomsOf(file, other) {
  const [parts, others] = [file.split('/'), other.split('/')]
  const different = parts.findIndex((part, index) => part !== others[index])
  const depth = different < 0 ? parts.length - 1 : different
  const upTo = (/** @type {number} */ end) => parts.slice(0, end).join('/')
  return [upTo(depth), upTo(depth + 1), others.slice(0, depth + 1).join('/')]
}

/** Finds rooms that require themselves by way of others. @param {Map<string, Set<string>>} rooms the rooms that each room requires */
function cycles(rooms) {
  /** @type {string[]} */
  const found = []
  const done = new Set()
  /** @param {string} room @param {string[]} trail */
  const visit = (room, trail) => {
    if (trail.includes(room)) {
      found.push(`cycle: ${[...trail.slice(trail.indexOf(room)), room].join(' > ')}`)
      return
    }
    if (done.has(room)) return
    for (const target of rooms.get(room) ?? []) visit(target, [...trail, room])
    done.add(room)
  }
  for (const room of rooms.keys()) visit(room, [])
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

/** Finds what the definitions of commands load before a command is called. @param {Graph} graph */
function heavyCommands(graph) {
  return [...graph].flatMap(([file, requires]) =>
    requires
      .filter(({ isTopLevel }) => isTopLevel && file.startsWith(`${COMMANDS}/`))
      .filter(({ target }) => !target.startsWith(`${COMMANDS}/`))
      .filter(({ target }) => target !== PARSER && !COMMANDS_MAY_LOAD.includes(target))
      .map(({ target }) => `all commands: ${file} loads ${target}`),
  )
}

/** Finds what the HTML report requires and a browser does not have. @param {Graph} graph */
function outOfBrowser(graph) {
  return [...graph].flatMap(([file, requires]) =>
    requires
      .filter(({ target }) => file.startsWith(`${PAGE}/`) && !target.startsWith(`${PAGE}/`))
      .filter(({ target }) => !PAGE_MAY_REQUIRE.includes(target))
      .map(({ target }) => `the page: ${file} requires ${target}`),
  )
}

/** Finds what another package requires and has not of its own, by its entries of the main one, or as a dependency. @param {Graph} graph */
function outOfPackage(graph) {
  return [...graph].flatMap(([file, requires]) => {
    const [, folder] = /^(packages\/[^/]+)\//.exec(file) ?? []
    if (folder === undefined) return []
    const { dependencies } = OTHERS.find((each) => each.folder === folder)?.manifest ?? {}
    const isDependency = (/** @type {string} */ target) =>
      Object.keys(dependencies ?? {}).some(
        (name) =>
          !ENTRIES_OF_MAIN.includes(name) && (target === name || target.startsWith(`${name}/`)),
      )
    return requires
      .filter(({ target }) => !target.startsWith(`${folder}/`) && !target.startsWith('node:'))
      .filter(({ target }) => !ENTRIES_OF_MAIN.includes(target) && !isDependency(target))
      .map(({ target }) => `${file} requires ${target}`)
  })
}

/** @param {string} file @param {string} source */
function wrongForm(file, source) {
  const lines = source.trimEnd().split('\n')
  const [strict, empty, header, after] = lines[0].startsWith('#!') ? lines.slice(1) : lines
  const hasHeader =
    strict === "'use strict'" && empty === '' && /^\/\/ \S.*\.$/.test(header) && after === ''
  return [
    ...(hasHeader
      ? []
      : [`${file} has no one-line comment that states its purpose after 'use strict'`]),
    ...(lines.length > MAX_LINES ? [`${file} has ${lines.length} lines`] : []),
  ]
}

/** Finds what depends on the system outside of its room. @param {string} file @param {string} source */
function scatteredSystem(file, source) {
  const isFree = !/^(cli|packages)\//.test(file) || file.startsWith(`${SYSTEM}/`)
  return isFree || !/process\.platform|os\.platform\(/.test(source)
    ? []
    : [`${file} asks for the system; ${SYSTEM} tells`]
}

/** Finds what the rules name in vain. @param {string[]} files */
function missingPaths(files) {
  const exists = (/** @type {string} */ name) =>
    files.some((file) => file === name || file.startsWith(`${name}/`))
  return NAMED.filter((name) => !exists(name)).map(
    (name) => `a rule names ${name}, which does not exist`,
  )
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

/** Returns the JavaScript that ships and the files beside it, by path. */
function shippedSources() {
  const ofOthers = OTHERS.flatMap(({ folder, manifest: { files } }) =>
    files.flatMap((/** @type {string} */ name) =>
      name.endsWith('.js') ? `${folder}/${name}` : filesIn(`${folder}/${name}`),
    ),
  )
  const files = FOLDERS.flatMap((folder) => filesIn(folder)).concat(ENTRIES, ofOthers)
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

/**
 * Returns a small tree that keeps every rule, with some files changed.
 * @param {Record<string, string | undefined>} changes undefined for a file that is missing
 */
function tree(changes = {}) {
  const head = "'use strict'\n\n// Does its job.\n\n"
  const bodies = Object.entries({
    'index.js': "const a = require('./lib/a.js')\nfunction f() { return require('./lib/b.js') }\n",
    'register.js': "require('./lib/a.js')\n",
    'lib/a.js': "const fs = require('node:fs')\n",
    'lib/b.js': "const library = require('library')\nconst a = require('./a.js')\n",
    'lib/packages.js': 'f()\n',
    'lib/settings.js': 'f()\n',
    'cli/main.js': "const library = require('library')\nconst index = require('../index.js')\n",
    'cli/options.js': "require('commander')\n",
    'cli/commands/index.js': "require('./a.js')\n",
    'cli/commands/a.js':
      "require('commander')\nrequire('../options.js')\nrequire('../../lib/settings.js')\n" +
      "const act = () => require('../a/a.js')\n",
    'cli/a/a.js': "require('../terminal/units.js')\n",
    'cli/page/main.js': "require('../terminal/units.js')\n",
    'cli/terminal/path-text.js': 'f()\n',
    'cli/terminal/units.js': 'f()\n',
    'cli/system/index.js': 'f(process.platform)\n',
    'bin/cpu-prof.js': "require('../cli/main.js').main()\n",
    ...changes,
  })
  const present = bodies.filter(([, body]) => body !== undefined)
  return Object.fromEntries(present.map(([file, body]) => [file, head + body]))
}

for (const [
  rule,
  changes,
  expected,
] of /** @type {[string, Record<string, string | undefined>, string[]][]} */ ([
  ['no break in a correct tree', {}, []],
  [
    'a file in lib/ that requires cli/',
    { 'lib/b.js': "function f() {\n  require('../cli/c.js')\n}\n", 'cli/c.js': 'f()\n' },
    [
      'lib/b.js requires cli/c.js',
      'cycle: index.js > lib > cli > index.js',
      'cycle: lib > cli > lib',
    ],
  ],
  [
    'a cycle, even if one require is inside a function',
    { 'lib/b.js': "require('./c.js')\n", 'lib/c.js': "const f = () => require('./b.js')\n" },
    ['cycle: lib/b.js > lib/c.js > lib/b.js'],
  ],
  [
    'a cycle of folders, even if no files require each other in a cycle',
    {
      'cli/run/b.js': "require('../a/a.js')\n",
      'cli/a/c.js': "require('../run/d.js')\n",
      'cli/run/d.js': 'f()\n',
    },
    ['cycle: cli/a > cli/run > cli/a'],
  ],
  [
    'a cycle of a folder and a file, at any depth',
    {
      'cli/run/after/b.js': "require('../record.js')\n",
      'cli/run/record.js': "const f = () => require('./after/c.js')\n",
      'cli/run/after/c.js': 'f()\n',
    },
    ['cycle: cli/run/after > cli/run/record.js > cli/run/after'],
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
    'a command that loads code before the command is called',
    { 'cli/commands/a.js': "require('../a/a.js')\n" },
    ['all commands: cli/commands/a.js loads cli/a/a.js'],
  ],
  [
    'a path in a rule to a file that is missing',
    { 'cli/terminal/units.js': undefined, 'cli/page/main.js': undefined },
    [
      'a rule names cli/page, which does not exist',
      'a rule names cli/terminal/units.js, which does not exist',
    ],
  ],
  [
    'a package that requires more than the entries of the main one',
    {
      'packages/mcp/a.js':
        "require('./b.js')\nrequire('zod')\nrequire('@org/cpu-prof/own-packages').a\nrequire('../../lib/a.js')\n",
      'packages/mcp/b.js': "require('@duckdb/node-api')\nrequire('@org/cpu-prof/lib/a.js')\n",
    },
    [
      'packages/mcp/a.js requires lib/a.js',
      'packages/mcp/b.js requires @duckdb/node-api',
      'packages/mcp/b.js requires @org/cpu-prof/lib/a.js',
    ],
  ],
  [
    'a file that asks for the system by itself',
    { 'cli/a/b.js': 'f(process.platform)\n' },
    ['cli/a/b.js asks for the system; cli/system tells'],
  ],
  [
    'a file of more than 600 lines',
    { 'cli/long.js': 'f()\n'.repeat(600) },
    ['cli/long.js has 604 lines'],
  ],
])) {
  test(`the check finds ${rule}`, () => {
    assert.deepEqual(problemsIn(tree(changes)), expected)
  })
}

test('the check finds a file without a one-line comment that states its purpose', () => {
  for (const source of [
    "'use strict'\n\nconst fs = require('node:fs')\n",
    "'use strict'\n\n// Starts with one line\n// and goes on.\n",
    '// Does its job.\n\nf()\n',
  ]) {
    const expected = "lib/c.js has no one-line comment that states its purpose after 'use strict'"
    assert.deepEqual(problemsIn({ ...tree(), 'lib/c.js': source }), [expected])
  }
})
