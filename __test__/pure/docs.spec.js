'use strict'

// The documentation: links lead somewhere, paths and scripts exist, and a list leads to every page.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const { scripts } = require('../../package.json')
const { codeSpans, repositoryHas, repositoryPages, withoutCode } = require('../helpers/pages.js')

/** @typedef {import('../helpers/pages.js').Pages} Pages */
/** @typedef {import('../helpers/pages.js').Exists} Exists */

/** Pages that name files of the source. */
const OF_THE_SOURCE = /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/internals\/|\/docs\/internals\.md$/
/** Folders of documentation. Their pages touch this spec, because it names them. */
const DOCUMENTATION = ['docs/', 'packages/fleet/docs/', 'packages/mcp/docs/']
const SOURCE_PATH = /^(src|lib|cli|packages|__test__|scripts)\/\S*$/
/** Files that commands in texts run or read. */
const SCRIPT_PATH = /(?<![\w/.])(?:scripts|bench|examples|fuzz)\/[\w./-]*\.\w+/g

const PAGES = repositoryPages()

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

/** Returns a line for each script that does not exist. @param {Pages} pages @param {Exists} exists @param {object} npm */
function missingScripts(pages, exists, npm) {
  return Object.entries(pages).flatMap(([file, text]) => {
    const files = [...text.matchAll(SCRIPT_PATH)].map(([name]) => name)
    // On other pages, `npm run build` is of the reader's project.
    const ofNpm = OF_THE_SOURCE.test(file) ? [...text.matchAll(/npm run (?!-)([\w:-]+)/g)] : []
    const missing = [
      ...files.filter((name) => !exists(name)),
      ...ofNpm.filter(([, name]) => !Object.hasOwn(npm, name)).map(([line]) => line),
    ]
    return missing.map((name) => `${file}: ${name}`)
  })
}

/** Returns a line for each page that no README.md leads to. @param {Pages} pages */
function unlistedPages(pages) {
  const linked = Object.entries(pages)
    .filter(([file]) => path.posix.basename(file) === 'README.md')
    .flatMap(([file, text]) =>
      [...withoutCode(text).matchAll(/\]\(([^)\s#]+)/g)].map(([, link]) =>
        path.posix.join(path.posix.dirname(file), link),
      ),
    )
  return Object.keys(pages)
    .filter((file) => DOCUMENTATION.some((folder) => file.startsWith(folder)))
    .filter((file) => !linked.includes(file))
    .map((file) => `no list has ${file}`)
}

test('every link and anchor leads somewhere', () => {
  assert.ok(Object.keys(PAGES).length > 20)
  assert.deepEqual(brokenLinks(PAGES, repositoryHas), [])
})

test('every path of the source exists', () => {
  assert.deepEqual(missingPaths(PAGES, repositoryHas), [])
})

test('every script exists', () => {
  assert.deepEqual(missingScripts(PAGES, repositoryHas, scripts), [])
})

test('a list leads to every page', () => {
  assert.deepEqual(unlistedPages(PAGES), [])
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
  const pages = {
    'docs/internals/a.md': text,
    'docs/b.md': '`src/gone.rs`',
    'packages/a/docs/internals.md': '`packages/a/gone.js`',
  }
  assert.deepEqual(
    missingPaths(pages, (file) => there.includes(file)),
    [
      'docs/internals/a.md: src/gone.rs',
      'docs/internals/a.md: cli/gone/<name>.js',
      'packages/a/docs/internals.md: packages/a/gone.js',
    ],
  )
})

test('the check finds a script that does not exist', () => {
  const text =
    '`npm run build`, `npm run made` and `npm run -s`, `node bench/gone.js 5`, a/bench/b.js'
  const pages = {
    'CONTRIBUTING.md': `${text}\n\`\`\`sh\nnode scripts/a.js\n\`\`\``,
    'docs/b.md': text,
  }
  assert.deepEqual(
    missingScripts(pages, (file) => file === 'scripts/a.js', { build: '' }),
    ['CONTRIBUTING.md: bench/gone.js', 'CONTRIBUTING.md: npm run made', 'docs/b.md: bench/gone.js'],
  )
})

test('the check finds a page that no list has', () => {
  const pages = {
    'docs/README.md': '[a](a.md#b), [what all share](more/README.md), [c](more/c.md)',
    'docs/a.md': '',
    'docs/b.md': '[x](more/x.md)',
    'docs/more/README.md': '[d](d.md)',
    'docs/more/c.md': '',
    'docs/more/d.md': '',
    'docs/more/x.md': '',
    'CHANGELOG.md': '',
    'packages/mcp/README.md': '[e](docs/e.md)',
    'packages/mcp/docs/e.md': '',
    'packages/mcp/docs/f.md': '',
  }
  assert.deepEqual(unlistedPages({ ...pages, 'README.md': '[docs](docs/README.md)' }), [
    'no list has docs/b.md',
    'no list has docs/more/x.md',
    'no list has packages/mcp/docs/f.md',
  ])
})
