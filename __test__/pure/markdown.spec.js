'use strict'

// Names that anybody can have written stay texts in Markdown, by the renderer whose rules for tables
// are those of GitHub.

const assert = require('node:assert/strict')
const path = require('node:path')
const test = require('node:test')
const {
  codeCell,
  codeSpan,
  fence,
  plainText,
  table,
} = require('../../cli/terminal/markdown-text.js')
const { printable } = require('../../cli/terminal/format.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { messages } = require('../helpers/messages.js')
const { seededRandom } = require('../helpers/random.js')
const { writeTrace } = require('../helpers/written.js')

/** What names are made of. */
const PIECES = [
  '`',
  '``',
  '```',
  '|',
  '\\',
  '\\|',
  ' ',
  '  ',
  '\n',
  '\r\n',
  '\t',
  '*',
  '_',
  '~~',
  '#',
  '-',
  '$',

  '<img src=x onerror=alert(1)>',
  '</code>',
  '<!--',
  '-->',
  '<script>',
  '&lt;',
  '&#96;',
  '&amp;',
  '](javascript:alert(1))',
  '[a]',
  '![x](y)',
  'https://host.example/?a=b',
  'www.host.example',
  'a@host.example',
  '@user',
  ':',
  '\u202e',
  '\u2066',
  '\x9b31m',
  '\x1b[31m',
  '\u2028',
  '\x00',
  'render',
  'é',
  '日本',
  '👩‍💻',
  'a',
  '1.',
  '> ',
  '    ',
  '***',
  '\ud800',
]
/** Names that break simple rules. */
const NAMES = [
  '``<img src=x onerror=alert(1)>``',
  '`',
  '``',
  ' ` ',
  '` a `',
  ' a ',
  ' a',
  'a\\|b',
  '\\',
  '\\\\|',
  'a`b',
  'a|b',
  '|',
  '||',
  '\n\n# Title',
  '\n\n<script>',
  '`|`',
  '\\`',
  '![x](https://host/)',
]
/** Elements of a report. */
const ALLOWED = new Set(
  'p strong em h3 table thead tbody tr th td code pre ul li details summary'.split(' '),
)

/** @param {string} markdown */
async function render(markdown) {
  const { micromark } = await import('micromark')
  const { gfm, gfmHtml } = await import('micromark-extension-gfm')
  // Raw HTML shows as elements.
  const options = { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] }
  return micromark(markdown, options)
}

/** Returns the text of HTML without its elements. @param {string} html */
function textOf(html) {
  const named = { lt: '<', gt: '>', quot: '"', amp: '&' }
  const text = html.replace(/<[^>]*>/g, '')
  return text.replace(/&(lt|gt|quot|amp);/g, (_, name) => named[/** @type {'lt'} */ (name)])
}

/** @param {string} html */
function assertAllowed(html) {
  const names = Array.from(html.matchAll(/<\/?([^\s>/]+)[^>]*>/g), ([, name]) => name)
  assert.deepEqual(
    [...new Set(names)].filter((name) => !ALLOWED.has(name)),
    [],
    html,
  )
  assert.doesNotMatch(html.replace(/ align="\w+"/g, ''), /<\w+\s+\w/, 'no element has attributes')
}

/** @param {() => number} random */
function hostileName(random) {
  const pick = () => PIECES[Math.floor(random() * PIECES.length)]
  return Array.from({ length: 1 + Math.floor(random() * 6) }, pick).join('')
}

test('a name in a cell, in a paragraph, and outside of code is itself', async (t) => {
  const random = seededRandom(t)
  const names = [...NAMES, ...Array.from({ length: 120 }, () => hostileName(random))]
  const cells = names.map((name) => [codeCell(name), codeCell(`${name}x`), '1 ms'])
  const html = await render(table(['a', 'b'], ['c'], cells))
  assertAllowed(html)
  const rows = Array.from(html.matchAll(/<tr>([\s\S]*?)<\/tr>/g), ([, row]) =>
    Array.from(row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g), ([, cell]) => cell),
  ).slice(1)
  assert.equal(rows.length, names.length)
  for (const [index, row] of rows.entries()) {
    assert.equal(row.length, 3, names[index])
    for (const [column, name] of [
      printable(names[index]),
      printable(`${names[index]}x`),
    ].entries()) {
      assert.equal(textOf(row[column]), name)
      assert.match(row[column], /^<code>[^<]*<\/code>$/)
    }
    assert.equal(row[2], '1 ms')
  }
  for (const name of names) {
    const paragraph = await render(
      `x ${codeSpan(name)} **y ${codeSpan(name)}**\n\n- ${codeSpan(name)}`,
    )
    assertAllowed(paragraph)
    const spans = Array.from(paragraph.matchAll(/<code>([^<]*)<\/code>/g), ([, span]) =>
      textOf(span),
    )
    assert.deepEqual(spans, Array(3).fill(printable(name)), paragraph)
    for (const [before, after] of [
      ['x ', ' y'],
      ['', ''],
    ]) {
      const plain = await render(`${before}${plainText(name)}${after}`)
      assert.doesNotMatch(plain, /<(?!\/?(p|code)>)/)
      const spaces = (/** @type {string} */ text) => text.replace(/\s+/g, ' ').trim()
      assert.equal(spaces(textOf(plain)), spaces(`${before}${printable(name)}${after}`))
    }
  }
  const code = names.map(printable).join('\n')
  const block = await render(`${fence(code)}\n\nend`)
  assert.match(block, /^<pre><code>[^<]*<\/code><\/pre>\n<p>end<\/p>$/)
})

test('words that GitHub would read as more than text are code, and others stay as they are', () => {
  const sentence = `71 % ${messages.ofWork} f (a.js:2), called by callback of get('/a-b'), in k.js 7 (1 of 9).`
  assert.equal(plainText(sentence), sentence)
  for (const [text, expected] of [
    ['of @babel/traverse, 13 %.', 'of `@babel/traverse`, 13 %.'],
    ['the test a #12 (_page.js:3).', 'the test a `#12` (`_page.js:3`).'],
    ['GH-12 and 0a1b2c3', '`GH-12` and `0a1b2c3`'],
    [':tada: :100:, $a$ notes:', '`:tada:` `:100:`, `$a$` notes:'],
    ['see www.a.example or https://a.example/.', 'see `www.a.example` or `https://a.example/`.'],
    ['RegExp: ^(a|b)+$, called', 'RegExp: `^(a|b)+$`, called'],
    ['1. a', '`1.` a'],
    ['- a', '`-` a'],
    ['    a', 'a'],
    ['=== a', '`===` a'],
  ]) {
    assert.equal(plainText(text), expected)
  }
})

test('reports, sized reports and comparisons have only their own elements', async (t) => {
  const random = seededRandom(t)
  const names = [...NAMES, ...Array.from({ length: 12 }, () => hostileName(random))]
  const cwd = temporaryDirectory()
  const [base, head] = [1, 2].map((factor) =>
    writeTrace(path.join(cwd, `${factor}.trace.json`), {
      label: NAMES[0],
      recordingLabel: NAMES[0],
      spans: names.map((name, index) => [
        [
          {
            name,
            file: `/p/node_modules/${name.replaceAll('/', '')}/${index}.js`,
            line: index + 1,
          },
        ],
        factor * 20,
      ]),
    }),
  )
  const rule = `function:${NAMES[0]}>1ms`
  const commands = [
    ['report', head, '--markdown', '--top', '100'],
    ['report', head, '--budget', '40000', '--code'],
    ['report', head, '--tree', '--markdown', '--code'],
    ['compare', base, head, '--markdown', '--top', '100', '--fail-on', rule],
  ]
  const results = await Promise.all(commands.map((args) => cli(args, { cwd })))
  for (const [index, { stdout }] of results.entries()) {
    const html = await render(stdout.replace(/^<!--.*-->$/m, '').replaceAll('&nbsp;', ''))
    assertAllowed(html)
    const spans = Array.from(html.matchAll(/<code>([^<]*)<\/code>/g), ([, span]) => textOf(span))
    const isTree = commands[index].includes('--tree')
    assert.ok(isTree || spans.includes(NAMES[0]), html)
    for (const [, row] of html.matchAll(/<tr>([\s\S]*?)<\/tr>/g)) {
      assert.ok([4, 5, 6, 8].includes(row.split(/<t[hd][^>]*>/).length - 1), row)
    }
  }
})
