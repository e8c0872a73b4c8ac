'use strict'

// The documentation: links lead somewhere, paths exist, and commands have the options that pages name.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { PACKAGE } = require('../helpers/files.js')

const COMMANDS = [
  'run',
  'merge',
  'report',
  'top',
  'compare',
  'convert',
  'check',
  'mcp',
  'ps',
  'record',
  'start',
  'stop',
  'status',
]
/** The commands of `lake`, which one page describes, each in a section. */
const OF_LAKE = ['add', 'top', 'trend', 'blame', 'compare', 'sql', 'compact'].map(
  (name) => `lake ${name}`,
)
const ALL = [...COMMANDS, ...OF_LAKE]
/** Pages that name files of the source. */
const OF_THE_SOURCE = /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/internals\//
const SOURCE_PATH = /^(src|lib|cli|__test__|scripts)\/\S*$/

/** @typedef {Record<string, string>} Pages the text of each page, by its path in the repository */
/** @typedef {(file: string) => boolean} Exists whether the repository has a file or folder */
/**
 * @typedef {object} Flags the options of a command
 * @property {Set<string>} all
 * @property {Set<string>} withValue
 */

/** Returns a text without its code blocks and code spans. @param {string} text */
const withoutCode = (text) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]+`/g, '``')

/** Returns the code spans outside of code blocks. @param {string} text */
const codeSpans = (text) =>
  [...text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span)

/** Returns the lines of code blocks; a line that ends in a backslash goes on. @param {string} text */
const codeLines = (text) =>
  [...text.matchAll(/^```.*?\n(.*?)^```$/gms)].flatMap(([, block]) =>
    block.replace(/\\\n\s*/g, '').split('\n'),
  )

/** Returns the anchors of a page, as GitHub makes them from headings. @param {string} text */
function anchorsOf(text) {
  /** @type {Set<string>} */
  const anchors = new Set()
  for (const [, heading] of text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = name
    for (let number = 1; anchors.has(anchor); number++) anchor = `${name}-${number}`
    anchors.add(anchor)
  }
  return anchors
}

/** Returns a line for each link that leads nowhere. @param {Pages} pages @param {Exists} exists */
function brokenLinks(pages, exists) {
  return Object.entries(pages).flatMap(([file, text]) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [target, anchor] = link.split('#')
        const place =
          target === ''
            ? file
            : path.posix.normalize(path.posix.join(path.posix.dirname(file), target))
        if (!exists(place)) return true
        return anchor !== undefined && !anchorsOf(pages[place] ?? '').has(anchor)
      })
      .map((link) => `${file}: ${link}`),
  )
}

/** Returns a line for each path of the source that does not exist. @param {Pages} pages @param {Exists} exists */
function missingPaths(pages, exists) {
  return Object.entries(pages)
    .filter(([file]) => OF_THE_SOURCE.test(file))
    .flatMap(([file, text]) =>
      codeSpans(text)
        .filter((span) => SOURCE_PATH.test(span))
        .filter((span) => {
          // Of `cli/commands/<name>.js`, the folder; `lib/addon` stands for `lib/addon.js`.
          const place = span.replace(/[^/]*<.*$/, '')
          return !['', '.js', '.rs'].some((extension) => exists(place + extension))
        })
        .map((span) => `${file}: ${span}`),
    )
}

/**
 * Returns the options that a command line gives to a command of cpu-prof, or nothing if the line has none.
 * @param {string} line @param {Record<string, Flags>} known
 */
function optionsIn(line, known) {
  const start = line.search(/\bcpu-prof(\.js)? /)
  const text = line.slice(Math.max(start, 0)).replace(/^cpu-prof(\.js)? /, '')
  const [first, second] = text.split(' ', 2)
  const command = first === 'lake' ? `lake ${second}` : first
  if (!ALL.includes(command)) return undefined
  // Quoted texts and placeholders can contain what ends a command in a shell.
  const plain = text.replace(/'[^']*'|"[^"]*"|<[^>]*>/g, 'value')
  const flags = []
  const words = plain
    .split(/ #|[|>;&]/)[0]
    .split(/\s+/)
    .slice(command.split(' ').length)
  for (let i = 0; i < words.length && words[i] !== '--'; i++) {
    const [flag, value] = words[i].replace(/[,)]$/, '').split('=')
    if (/^-[a-zA-Z]$|^--[a-z]/.test(flag)) {
      flags.push(flag)
      if (known[command].withValue.has(flag) && value === undefined) i++
    } else if (command === 'run') break
  }
  return { command, flags }
}

/** Returns a line for each option that its command does not have. @param {Pages} pages @param {Record<string, Flags>} known */
function unknownOptions(pages, known) {
  return Object.entries(pages).flatMap(([file, text]) =>
    [...codeLines(text), ...codeSpans(text)].flatMap((line) => {
      const { command, flags } = optionsIn(line, known) ?? { command: '', flags: [] }
      return flags
        .filter((flag) => !known[command].all.has(flag))
        .map((flag) => `${file}: ${command} has no ${flag}`)
    }),
  )
}

/** Returns a line for each option that the page of its command does not name. @param {Pages} pages @param {Record<string, Flags>} known */
function unnamedOptions(pages, known) {
  return Object.entries(known).flatMap(([command, { all }]) => {
    const [name, ofLake] = command.split(' ')
    const page = `docs/commands/${name}.md`
    const own = ofLake === undefined ? pages[page] : sectionsOf(pages[page], command)
    const text = `${own}${pages['docs/commands/README.md']}`
    return [...all]
      .filter((flag) => flag.startsWith('--') && flag !== '--help')
      .filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(text))
      .map((flag) => `${page} does not name ${flag}${ofLake === undefined ? '' : ` of ${command}`}`)
  })
}

/**
 * Returns the section of a command of `lake`, with that of what its questions have in common.
 * @param {string} page @param {string} command
 */
function sectionsOf(page, command) {
  const sections = page.split(/^## /m).slice(1)
  const own = sections.find((section) => section.startsWith(`\`${command} `)) ?? ''
  const isQuestion = !/ (add|compact)$/.test(command)
  const shared = sections.find((section) => section.startsWith('Questions\n')) ?? ''
  return isQuestion ? own + shared : own
}

/** Reads the options of a command from its help. @param {string} help @returns {Flags} */
function flagsOf(help) {
  const all = new Set()
  const withValue = new Set()
  for (const [, short, long, value] of help.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)( <)?/gm)) {
    for (const flag of [short, long]) {
      if (flag === undefined) continue
      all.add(flag)
      if (value !== undefined) withValue.add(flag)
    }
  }
  return { all, withValue }
}

/** @returns {Pages} */
function repositoryPages() {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
  const { stdout } = spawnSync('git', list, { cwd: PACKAGE, encoding: 'utf8' })
  const files = stdout.split('\n').filter((file) => file !== '' && repositoryHas(file))
  return Object.fromEntries(
    files.map((file) => [file, fs.readFileSync(path.join(PACKAGE, file), 'utf8')]),
  )
}

/** @type {Exists} */
const repositoryHas = (file) => fs.existsSync(path.join(PACKAGE, file))

const CLI = path.join(PACKAGE, 'bin', 'cpu-prof.js')
const PAGES = repositoryPages()
const KNOWN = Object.fromEntries(
  ALL.map((command) => {
    const args = [CLI, ...command.split(' '), '--help']
    return [command, flagsOf(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout)]
  }),
)

test('every link and anchor leads somewhere', () => {
  assert.ok(Object.keys(PAGES).length > 20)
  assert.deepEqual(brokenLinks(PAGES, repositoryHas), [])
})

test('every path of the source exists', () => {
  assert.deepEqual(missingPaths(PAGES, repositoryHas), [])
})

test('commands have the options that pages name, and pages name all options', () => {
  for (const command of ALL) assert.ok(KNOWN[command].all.has('--help'), command)
  const { stdout } = spawnSync(process.execPath, [CLI, 'lake', '--help'], { encoding: 'utf8' })
  const [, list] = stdout.split('Commands:\n')
  const names = [...list.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => `lake ${name}`)
  assert.deepEqual(
    names.filter((name) => name !== 'lake help'),
    OF_LAKE,
  )
  assert.deepEqual(unknownOptions(PAGES, KNOWN), [])
  assert.deepEqual(unnamedOptions(PAGES, KNOWN), [])
})

test('the check finds a link and an anchor that lead nowhere', () => {
  const pages = {
    'docs/a.md': [
      "# The page's `title`",
      '## Twice',
      '## Twice',
      '[b](b.md) [top](#the-pages-title) [second](#twice-1) [web](https://a.b/c) ![image](i.png)',
      '[gone](c.md) [none](#none) [other](b.md#twice) `[code](d.md)`',
      '```\n# Comment\n[block](e.md)\n```',
      '[comment](#comment)',
    ].join('\n'),
    'docs/b.md': '# B\n[up](../README.md)',
  }
  const exists = (/** @type {string} */ file) => file in pages || file === 'docs/i.png'
  assert.deepEqual(brokenLinks(pages, exists), [
    'docs/a.md: c.md',
    'docs/a.md: #none',
    'docs/a.md: b.md#twice',
    'docs/a.md: #comment',
    'docs/b.md: ../README.md',
  ])
})

test('the check finds a path of the source that does not exist', () => {
  const text =
    '`src/a.rs` `lib/b` `cli/commands/<name>.js` `src/gone.rs` `lib/` `cli/gone/<name>.js`'
  const there = ['src/a.rs', 'lib/b.js', 'lib/', 'cli/commands/']
  const pages = { 'docs/internals/a.md': text, 'docs/b.md': '`src/gone.rs`' }
  assert.deepEqual(
    missingPaths(pages, (file) => there.includes(file)),
    ['docs/internals/a.md: src/gone.rs', 'docs/internals/a.md: cli/gone/<name>.js'],
  )
})

test('the check finds an option that the command does not have', () => {
  const text = [
    'The `report --by line`, `run --wrong`, `--wrong` and `cpu-prof merge a -o b --wrong`.',
    '```sh',
    'npx cpu-prof run --dir --name -q -- node main.js --theirs # --comment',
    'cpu-prof run --interval 200 node main.js --theirs',
    'node /clone/bin/cpu-prof.js check a.json --absent | head --lines=3',
    'cpu-prof lake blame lake --since 30d --absent --job build',
    'cpu-prof compare --fail-on "total>5%" <base> \\',
    "  --absent -- 'node a.js --theirs'",
    '```',
  ].join('\n')
  assert.deepEqual(unknownOptions({ 'a.md': text }, KNOWN), [
    'a.md: check has no --absent',
    'a.md: lake blame has no --absent',
    'a.md: compare has no --absent',
    'a.md: run has no --wrong',
    'a.md: merge has no --wrong',
  ])
})

test('the check finds an option that no page names', () => {
  const known = { run: { all: new Set(['--dir', '--in', '--help', '-q']), withValue: new Set() } }
  const pages = {
    'docs/commands/run.md': '`--dir <dir>`, `--interval`',
    'docs/commands/README.md': '',
  }
  assert.deepEqual(unnamedOptions(pages, known), ['docs/commands/run.md does not name --in'])
  const flags = { all: new Set(['--top', '--by', '--repo']), withValue: new Set() }
  const page =
    '## Questions\n`--repo`\n## `lake top [lake]`\n`--top`\n## `lake trend [lake]`\n`--by`'
  assert.deepEqual(
    unnamedOptions({ ...pages, 'docs/commands/lake.md': page }, { 'lake top': flags }),
    ['docs/commands/lake.md does not name --by of lake top'],
  )
})
