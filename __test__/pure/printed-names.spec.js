'use strict'

// Names with characters that would control a terminal, or change the direction of what follows.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { jsonText } = require('../../cli/terminal/format.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are looked for
const CONFUSING = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const NAME = 'x\x1b[31m\x9b31m\x85\x7f\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069y'

test('JSON keeps the values of names that would confuse a terminal', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  const value = { [NAME]: all, list: [all.join(''), '\\', '"\u202e"', null] }
  const text = jsonText(value)
  assert.deepEqual(JSON.parse(text), value)
  assert.doesNotMatch(text, CONFUSING)
  assert.equal(jsonText({ a: ['é 日本'] }), '{\n  "a": [\n    "é 日本"\n  ]\n}\n')
})

test('no tool prints a name that would confuse a terminal', async () => {
  const cwd = temporaryDirectory()
  const file = writeTrace(path.join(cwd, `a${NAME}.trace.json`), {
    label: NAME,
    recordingLabel: NAME,
    spans: [[[{ name: NAME, file: `/p/node_modules/${NAME}/${NAME}.js`, line: 1 }], 20]],
  })
  const torn = path.join(cwd, `torn${NAME}.trace.json`)
  fs.writeFileSync(torn, fs.readFileSync(file, 'utf8').slice(0, -20))
  const stacks = path.join(cwd, 'a.collapsed')
  const forms = [
    [],
    ['--json'],
    ['--markdown'],
    ['--budget', '4000'],
    ['--by', 'line'],
    ['--tree'],

    ['--function', 'x'],
    ['--by', 'thread'],
    ['--stalls', '1'],
  ]
  const commands = [
    ...forms.map((form) => ['report', torn, ...form]),
    ...[[], ['--json'], ['--markdown']].map((form) => ['compare', file, file, ...form]),
    ...[[], ['--json']].map((form) => ['check', torn, ...form]),
    ['merge', file, '-o', path.join(cwd, `m${NAME}.json`), '--json'],
    ['convert', file, '-o', stacks, '--quiet'],
  ]
  const results = await Promise.all(commands.map((args) => cli(args, { cwd })))
  for (const [index, { stdout, stderr }] of results.entries()) {
    const form = commands[index].join(' ').replaceAll(NAME, '')
    assert.doesNotMatch(stdout, CONFUSING, form)
    assert.doesNotMatch(stderr, CONFUSING, form)
  }
  assert.doesNotMatch(fs.readFileSync(stacks, 'utf8'), CONFUSING)
  const { functions } = JSON.parse(results[1].stdout)
  assert.equal(functions[0].name, NAME)
})
