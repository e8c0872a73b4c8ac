'use strict'

// The words that settings allow, and the names of variables: what tells of them beside the addon.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { loadTools } = require('../../lib/addon.js')
const { settingsOf } = require('../../lib/settings.js')
const { PACKAGE } = require('../helpers/files.js')
const { codeSpans, repositoryPages } = require('../helpers/pages.js')

const ADDON = loadTools()
const SETTINGS = settingsOf(ADDON)
const [CATEGORIES, FORMAT] = ['categories', 'format']

/** @param {string} file */
const read = (file) => fs.readFileSync(path.join(PACKAGE, file), 'utf8')

/**
 * Returns the words that a setting allows, as the message about another one lists them; none for a setting
 * that is a text or a number.
 * @param {string} name
 */
function allowedWords(name) {
  const message = ADDON.cpuProfCheckSettings({ [name]: '?' }) ?? ''
  const [, list = ''] =
    /is not valid: ([\w,]+(?:, [\w,]+)* or [\w,]+) is allowed$/.exec(message) ??
    /is allowed, of ([\w, ]+ and \w+);/.exec(message) ??
    []
  return list.split(/, | or | and /).filter((word) => word !== '')
}

const WORDS = SETTINGS.map(({ name, help }) => ({ name, help, words: allowedWords(name) })).filter(
  ({ words }) => words.length > 0,
)

/** Returns the words of a text. @param {string} text */
const wordsIn = (text) => text.match(/\w+(,\w+)*/g) ?? []

/**
 * Returns what each place has of a setting's words, by the name of the place.
 * @param {string} name @param {string} help @param {{ types: string, settings: string, events: string }} texts
 * @returns {Record<string, string[]>}
 */
function placesOf(name, help, { types, settings, events }) {
  if (name === CATEGORIES) {
    const [comment = ''] = /[^*]* Kinds of events.*?(?=Default)/s.exec(types) ?? []
    const [list = ''] = /lists what is recorded:\n\n.*?\n\n/s.exec(events) ?? []
    const told = [...list.matchAll(/`(\w+)`(?=:|, off by default:)/g)].map(([, word]) => word)
    const [, ofHelp = ''] = /, of ([^;]*);/.exec(help) ?? []
    return {
      // The words alone, not what adds one to the default.
      'index.d.ts': codeSpans(comment).filter((word) => !word.startsWith('+')),
      'docs/events.md': told,
      'the help': wordsIn(ofHelp.replace(/ and|,/g, ' ')),
    }
  }
  const [, type = ''] = new RegExp(`^  ${name}\\?: (.*)$`, 'm').exec(types) ?? []
  const variable = SETTINGS.find((setting) => setting.name === name)?.variable
  const row = settings.split('\n').find((line) => line.startsWith(`| \`${variable}\``)) ?? ''
  return {
    'index.d.ts': [...type.matchAll(/'([^']*)'/g)].map(([, word]) => word),
    // After the variable, what it sets and its default.
    'docs/settings.md': codeSpans(row.split('|')[4] ?? ''),
    'the help': wordsIn(help),
  }
}

/** Returns a line for each word that a place lacks, or has in vain. @param {typeof WORDS} settings @param {Parameters<typeof placesOf>[2]} texts */
function problemsIn(settings, texts) {
  return settings.flatMap(({ name, help, words }) =>
    Object.entries(placesOf(name, help, texts)).flatMap(([place, found]) => {
      const told = found.flatMap((text) => (name === FORMAT ? text : text.split(/, ?/)))
      return [
        ...words.filter((word) => !told.includes(word)).map((word) => `${place}: no ${word}`),
        // The sentence of a help has other words too.
        ...(place === 'the help' && name !== CATEGORIES ? [] : told)
          .filter((word) => !words.includes(word))
          .map((word) => `${place}: ${name} is never ${word}`),
      ]
    }),
  )
}

/** Returns the names of variables in a text. @param {string} text @returns {string[]} */
const variablesIn = (text) => text.match(/(?<!\w)CPU_PROF_[A-Z]\w*/g) ?? []

/** Returns a line for each variable that only the pages or only the source knows. @param {Record<string, string>} pages @param {string[]} known */
function wrongVariables(pages, known) {
  const named = variablesIn(pages['docs/settings.md'])
  return [
    ...known.filter((name) => !named.includes(name)).map((name) => `docs/settings.md: no ${name}`),
    ...Object.entries(pages).flatMap(([page, text]) =>
      variablesIn(text)
        .filter((name) => !known.includes(name))
        .map((name) => `${page}: nothing reads ${name}`),
    ),
  ]
}

/** Returns the variables that the source names, without its tests. */
function variablesOfSource() {
  const places = ['src/*.rs', 'lib', 'cli', 'packages/*.js', 'packages/*.rs']
  const list = spawnSync('git', ['ls-files', ...places], { cwd: PACKAGE, encoding: 'utf8' })
  const files = list.stdout
    .split('\n')
    .filter((file) => file !== '' && !/\/(tests?|__test__)(\.rs$|\/)/.test(file))
  const texts = files.map((file) => read(file).split('\n#[cfg(test)]')[0])
  return [...new Set(texts.flatMap(variablesIn))].sort()
}

const TEXTS = {
  types: read('index.d.ts'),
  settings: read('docs/settings.md'),
  events: read('docs/events.md'),
}

test('each word that a setting allows is allowed, and types, documentation and help have the same', () => {
  assert.deepEqual(
    WORDS.map(({ name }) => name),
    [FORMAT, 'ignoreList', CATEGORIES, 'source'],
  )
  for (const { name, words } of WORDS) {
    for (const word of words) {
      const value = name === CATEGORIES ? `cpu,${word}` : word
      assert.equal(ADDON.cpuProfCheckSettings({ [name]: value }), null)
    }
  }
  assert.deepEqual(problemsIn(WORDS, TEXTS), [])
})

test('a word that one place has alone is found', () => {
  const more = WORDS.map(({ words, ...rest }) => ({ ...rest, words: [...words, 'made'] }))
  const places = ['index.d.ts', 'docs/settings.md', 'the help']
  const all = [places, places, ['index.d.ts', 'docs/events.md', 'the help'], places]
  assert.deepEqual(
    problemsIn(more, TEXTS),
    all.flat().map((place) => `${place}: no made`),
  )
  const { types, settings, events } = TEXTS
  for (const [texts, expected] of /** @type {[typeof TEXTS, string][]} */ ([
    [
      { ...TEXTS, types: types.replace("'auto' | 'keep'", "'auto' | 'old' | 'keep'") },
      'index.d.ts',
    ],
    [{ ...TEXTS, types: types.replace('`loop`,', '`loop`, `old`,') }, 'index.d.ts'],
    [
      { ...TEXTS, settings: settings.replace('`auto`, `v8`', '`auto`, `old`, `v8`') },
      'docs/settings.md',
    ],
    [
      { ...TEXTS, events: events.replace('- `timings`:', '- `old`: x; `timings`:') },
      'docs/events.md',
    ],
  ])) {
    const problems = problemsIn(WORDS, texts)
    assert.equal(problems.length, 1)
    assert.match(problems[0], new RegExp(`^${expected}: \\w+ is never old$`))
  }
})

test('the documentation has the variables of the source', () => {
  const known = [
    ...new Set([...SETTINGS.flatMap(({ variable }) => variable ?? []), ...variablesOfSource()]),
  ]
  assert.ok(known.includes('CPU_PROF_INTERVAL') && known.includes('CPU_PROF_PUSH_CA'))
  assert.deepEqual(wrongVariables(repositoryPages(), known), [])
  const pages = { 'docs/settings.md': '`CPU_PROF_A`, ERR_CPU_PROF_B', 'a.md': 'CPU_PROF_C=1' }
  assert.deepEqual(wrongVariables(pages, ['CPU_PROF_A', 'CPU_PROF_B']), [
    'docs/settings.md: no CPU_PROF_B',
    'a.md: nothing reads CPU_PROF_C',
  ])
})

test('what leaves settings out names settings', () => {
  const names = SETTINGS.map(({ name }) => name)
  const { STARTS } = require('../../cli/options.js')
  const { OF_FILES } = require('../../cli/commands/processes/record.js')
  for (const name of [...STARTS, ...OF_FILES]) assert.ok(names.includes(name), name)
})
