'use strict'

// The documentation of the commands: each command, option and choice is described, and pages name no others.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const test = require('node:test')
const { Command, Option } = require('commander')
const commands = require('../../cli/commands/index.js')
const exitCodes = require('../../cli/exit-codes.js')
const { loadTools } = require('../../lib/addon.js')
const { OTHERS } = require('../../scripts/npm/manifests.js')
const { PACKAGE } = require('../helpers/files.js')
const { codeLines, codeSpans, repositoryPages } = require('../helpers/pages.js')

/** What all commands share. */
const SHARED = 'docs/commands/README.md'
/** The folder of each package that has commands, by command. @type {Map<string, string>} */
const FOLDERS = new Map(
  OTHERS.flatMap(({ folder }) => {
    const { commands } = require(path.join(PACKAGE, folder, 'hook.js'))
    return Object.keys(commands).map((command) => [command, folder])
  }),
)
/** Pages that list all commands. */
const LISTS = ['README.md', 'docs/README.md']

/** @typedef {import('../helpers/pages.js').Pages} Pages */
/**
 * @typedef {object} Flags the options of a command
 * @property {Set<string>} all
 * @property {Set<string>} withValue
 * @property {import('commander').Option[]} [choices] those that take one of some words
 *
 * @typedef {Record<string, Flags>} Known the commands by name; of `lake`, each of its own: `lake top`
 */

/** Returns a line for each place where a command is missing, and for each page of none. @param {Pages} pages @param {Known} known */
function unlistedCommands(pages, known) {
  const names = new Set(Object.keys(known).map((command) => command.split(' ')[0]))
  const isIn = (/** @type {string} */ page, /** @type {string} */ name) =>
    new RegExp(`\\[[^\\]]*\`${name}[ \`]`).test(pages[page])
  return [
    ...[...names].flatMap((name) => [
      ...(pageOf(name) in pages ? [] : [`there is no ${pageOf(name)}`]),
      ...LISTS.filter((page) => !isIn(page, name)).map((page) => `${page} has no ${name}`),
    ]),
    ...Object.keys(known)
      .filter((command) => command.includes(' ') && ownText(pages, command) === '')
      .map((command) => `${pageOf(command)} has no section of ${command}`),
    ...Object.entries(pages)
      .filter(([page, text]) => isOfCommand(page, text))
      .filter(([page]) => !names.has(path.posix.basename(page, '.md')))
      .map(([page]) => `${page} is of no command`),
  ]
}

/**
 * Returns the options that a command line gives to a command of cpu-prof, each with what comes after it, or
 * nothing if the line has no command.
 * @param {string} line @param {Known} known
 */
function optionsIn(line, known) {
  const start = line.search(/\bcpu-prof(\.js)? /)
  const text = line.slice(Math.max(start, 0)).replace(/^cpu-prof(\.js)? /, '')
  const [first, second] = text.split(' ', 2)
  const command = [`${first} ${second}`, first].find((name) => Object.hasOwn(known, name))
  if (command === undefined) return undefined
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
      flags.push({ flag, value: value ?? words[i + 1] })
      if (known[command].withValue.has(flag) && value === undefined) i++
    } else if (command === 'run') break
  }
  return { command, flags }
}

/** Returns a line for each option, and each choice of one, that its command does not have. @param {Pages} pages @param {Known} known */
function unknownOptions(pages, known) {
  const ofLines = Object.entries(pages).flatMap(([file, text]) =>
    [...codeLines(text), ...codeSpans(text)].flatMap((line) => {
      const { command, flags } = optionsIn(line, known) ?? { command: '', flags: [] }
      return flags.flatMap(({ flag, value }) => {
        if (!known[command].all.has(flag)) return [`${file}: ${command} has no ${flag}`]
        const option = known[command].choices?.find(({ long }) => long === flag)
        const isKnown = option === undefined || value === undefined || takes(option, value)
        return isKnown ? [] : [`${file}: ${command} has no ${flag} ${value}`]
      })
    }),
  )
  const shared = Object.keys(known).flatMap((command) =>
    sharedSections(pages, command)
      .flatMap((section) => codeSpans(section).map((span) => span.split(' ')[0]))
      .filter((flag) => flag.startsWith('--') && !known[command].all.has(flag))
      .map((flag) => `a shared section: ${command} has no ${flag}`),
  )
  return [...ofLines, ...shared]
}

/** Returns whether an option takes a word. A placeholder stands for any. @param {import('commander').Option} option @param {string} word */
function takes({ parseArg }, word) {
  try {
    if (word !== 'value') parseArg?.(word, undefined)
    return true
  } catch {
    return false
  }
}

/** Returns a line for each option, and each choice of one, that the page of its command does not name. @param {Pages} pages @param {Known} known */
function unnamedOptions(pages, known) {
  return Object.entries(known).flatMap(([command, { all, choices = [] }]) => {
    const own = ownText(pages, command)
    const text = `${own}${sharedSections(pages, command).join('')}`
    const of = command.includes(' ') ? ` of ${command}` : ''
    const missing = [
      ...[...all]
        .filter((flag) => flag.startsWith('--') && flag !== '--help')
        .filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(text)),
      ...choices.flatMap((option) => untoldChoices(own, option)),
    ]
    return missing.map((name) => `${pageOf(command)} does not name ${name}${of}`)
  })
}

/** Returns the choices that are not in the line that lists them. @param {string} text @param {import('commander').Option} option */
function untoldChoices(text, { long, argChoices = [] }) {
  const lines = text.split('\n').filter((line) => line.includes(`\`${long}`))
  const untold = lines.map((line) => {
    const words = codeSpans(line).flatMap((span) => span.split(/[ ,|]+/))
    return argChoices.filter((choice) => !words.includes(choice))
  })
  const [fewest = argChoices] = untold.sort((a, b) => a.length - b.length)
  return fewest.map((choice) => `${long} ${choice}`)
}

/** Returns the page of a command: in its package, if that is not the main one. @param {string} command */
function pageOf(command) {
  const [name] = command.split(' ', 1)
  const folder = FOLDERS.get(name)
  return folder === undefined ? `docs/commands/${name}.md` : `${folder}/docs/${name}.md`
}

/** Returns whether a page is about a command. @param {string} page @param {string} text */
const isOfCommand = (page, text) =>
  /^docs\/commands\/(?!README)/.test(page) ||
  (/^packages\/[\w-]+\/docs\//.test(page) && text.startsWith('# `cpu-prof '))

/** Returns the page of a command, or its section of the page. @param {Pages} pages @param {string} command */
function ownText(pages, command) {
  const page = pages[pageOf(command)] ?? ''
  if (!command.includes(' ')) return page
  return page.split(/^## /m).find((section) => section.startsWith(`\`${command} `)) ?? ''
}

/** Returns the sections that several commands share, and that name this one. @param {Pages} pages @param {string} command */
function sharedSections(pages, command) {
  const shared = command.includes(' ') ? [SHARED, pageOf(command)] : [SHARED]
  return shared
    .flatMap((page) => (pages[page] ?? '').split(/^##+ /m).slice(1))
    .filter((section) => !section.startsWith('`') && codeSpans(section).includes(command))
}

/** Returns a line for each exit code that only the program or only the page has. @param {string} page @param {Record<string, number>} codes */
function wrongExitCodes(page, codes) {
  const [text = ''] = /^Exit codes: .*$/m.exec(page) ?? []
  const told = [...text.matchAll(/\b(\d+)(?=:| is )/g)].map(([, code]) => Number(code))
  // A signal has a number of its own.
  const used = [0, ...Object.values(codes).filter((code) => code !== codes.SIGNAL)]
  return [
    ...used
      .filter((code) => !told.includes(code))
      .map((code) => `no page tells the exit code ${code}`),
    ...told
      .filter((code) => !used.includes(code))
      .map((code) => `nothing ends with the exit code ${code}`),
  ]
}

/** Returns a line for each ending of a format that only the addon or only the page has. @param {string} page @param {string[]} endings */
function wrongEndings(page, endings) {
  const told = [...page.matchAll(/^- (`\.[^:]*):/gm)].flatMap(([, list]) => codeSpans(list))
  return [
    ...endings
      .filter((ending) => !told.includes(ending))
      .map((ending) => `no page tells ${ending}`),
    ...told.filter((ending) => !endings.includes(ending)).map((ending) => `${ending} is no format`),
  ]
}

/** Returns the commands that have no commands of their own, by name. */
function definedCommands() {
  const program = new Command().enablePositionalOptions()
  for (const { define } of commands) define(program, () => true)
  return program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [{ name: command.name(), command }]
      : command.commands.map((own) => ({ name: `${command.name()} ${own.name()}`, command: own })),
  )
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

const CLI = path.join(PACKAGE, 'bin', 'cpu-prof.js')
const PAGES = repositoryPages()
/** The commands with their help: only the addon knows the settings, which the help has. */
const COMMANDS = definedCommands().map(({ name, command }) => {
  const args = [CLI, ...name.split(' '), '--help']
  return { name, command, ...spawnSync(process.execPath, args, { encoding: 'utf8' }) }
})
/** @type {Known} */
const KNOWN = Object.fromEntries(
  COMMANDS.map(({ name, command, stdout }) => {
    const choices = command.options.filter(({ argChoices }) => argChoices !== undefined)
    return [name, { ...flagsOf(stdout), choices }]
  }),
)

test('every command prints its help on stdout, with examples', () => {
  for (const { name, status, stdout, stderr } of COMMANDS) {
    assert.deepEqual([status, stderr], [0, ''], name)
    assert.match(stdout, new RegExp(`\n\n.*:\n  .*\\bcpu-prof ${name}\\b`))
  }
})

test('every command is in the lists, and every page is of a command', () => {
  assert.deepEqual(unlistedCommands(PAGES, KNOWN), [])
})

test('commands have the options that pages name, and pages name all options', () => {
  assert.ok('push' in KNOWN && 'lake top' in KNOWN && !('lake' in KNOWN))
  for (const [command, { all }] of Object.entries(KNOWN)) assert.ok(all.has('--help'), command)
  assert.deepEqual(unknownOptions(PAGES, KNOWN), [])
  assert.deepEqual(unnamedOptions(PAGES, KNOWN), [])
})

test('the exit codes are told', () => {
  assert.deepEqual(wrongExitCodes(PAGES[SHARED], exitCodes), [])
})

test('the page of `convert` has the endings of all formats', () => {
  /** @type {{ endings: string[] }[]} */
  const formats = JSON.parse(loadTools().cpuProfFormats())
  const endings = formats.flatMap((format) => format.endings)
  const page = PAGES['docs/commands/convert.md']
  assert.deepEqual(wrongEndings(page, endings), [])
  assert.deepEqual(wrongEndings(page.replace('`.folded`', '`.flat`'), endings), [
    'no page tells .folded',
    '.flat is no format',
  ])
})

test('the check finds a command that no page or list has, and a page of no command', () => {
  assert.deepEqual(unlistedCommands(PAGES, { ...KNOWN, made: KNOWN.run, 'lake made': KNOWN.run }), [
    'there is no docs/commands/made.md',
    'README.md has no made',
    'docs/README.md has no made',
    'packages/fleet/docs/lake.md has no section of lake made',
  ])
  const { push: _, 'lake sql': __, ...fewer } = KNOWN
  assert.deepEqual(unlistedCommands(PAGES, fewer), ['packages/fleet/docs/push.md is of no command'])
})

test('the check finds an option or a choice that the command does not have', () => {
  const text = [
    'The `report --by line`, `run --wrong`, `--wrong` and `cpu-prof merge a -o b --wrong`.',
    '`lake top --by <what>`, `push --as otlp`, `push --as zipkin`, `top --by label:route`',
    '```sh',
    'npx cpu-prof run --dir --name -q -- node main.js --theirs # --comment',
    'cpu-prof run --interval 200 node main.js --theirs',
    'node /clone/bin/cpu-prof.js check a.json --absent | head --lines=3',
    'cpu-prof lake blame lake --since 30d --absent --job build',
    'cpu-prof report --by=rule',
    'cpu-prof compare --fail-on "total>5%" <base> \\',
    "  --absent -- 'node a.js --theirs'",
    '```',
  ].join('\n')
  const shared = '## Times\n`--from` of `merge` and `push`\n## Filters\n`push` takes `--tag <a=b>`'
  assert.deepEqual(unknownOptions({ 'a.md': text, [SHARED]: shared }, KNOWN), [
    'a.md: check has no --absent',
    'a.md: lake blame has no --absent',
    'a.md: report has no --by rule',
    'a.md: compare has no --absent',
    'a.md: run has no --wrong',
    'a.md: merge has no --wrong',
    'a.md: push has no --as zipkin',
    'a shared section: push has no --from',
  ])
})

test('the check finds an option or a choice that no page names', () => {
  const flags = (/** @type {string[]} */ ...all) => ({ all: new Set(all), withValue: new Set() })
  const sort = new Option('--sort <time>').choices(['self', 'total'])
  const pages = {
    'docs/commands/run.md': '`--dir <dir>`, `--interval`, `--sort self`: self or total',
    'packages/fleet/docs/lake.md':
      '## Questions\n`lake top`: `--repo`\n## `lake top [lake]`\n`--top`\n## `lake sql [lake]`\n`--by`',
    [SHARED]: '`--by`\n## Filters\n`run`: `--from`\n## Times\n`lake sql`: `--to`',
  }
  const known = {
    run: { ...flags('--dir', '--in', '--help', '-q', '--from', '--to'), choices: [sort] },
    'lake top': flags('--top', '--by', '--repo'),
    'lake sql': flags('--by', '--to', '--repo'),
  }
  assert.deepEqual(unnamedOptions(pages, known), [
    'docs/commands/run.md does not name --in',
    'docs/commands/run.md does not name --to',
    'docs/commands/run.md does not name --sort total',
    'packages/fleet/docs/lake.md does not name --by of lake top',
    'packages/fleet/docs/lake.md does not name --repo of lake sql',
  ])
})

test('the check finds an exit code that is not told, or is not used', () => {
  const text = 'Exit codes: 0 is success; 1: failed; 4: wrong. It takes 5 s.\n\n7: more'
  assert.deepEqual(wrongExitCodes(text, { FAILED: 1, WRONG_USAGE: 2, SIGNAL: 128 }), [
    'no page tells the exit code 2',
    'nothing ends with the exit code 4',
  ])
})
