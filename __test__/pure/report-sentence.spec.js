'use strict'

// The first sentence: programs whose cause is known, with what the report says of them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { report } = require('../../index.js')
const { pageData } = require('../../lib/offline.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { PROGRAMS, START_US } = require('../helpers/sentences.js')
const { writeTrace } = require('../helpers/written.js')

/** @typedef {import('../helpers/written.js').Recorded} Recorded */

/** Writes the recordings of a program, and returns their folder. @param {Recorded[]} recordings */
function write(recordings) {
  const dir = temporaryDirectory()
  for (const [index, recorded] of recordings.entries()) {
    writeTrace(path.join(dir, `${index}.trace.json`), { start: START_US, ...recorded })
  }
  return dir
}

for (const [name, { recordings, sentence }] of Object.entries(PROGRAMS)) {
  test(`the sentence of ${name}`, async () => {
    const result = await report(write(recordings))
    assert.equal(result.sentence, sentence)
  })
}

test('a built-in without a frame is named by the text of the line', async () => {
  const dir = temporaryDirectory()
  const file = path.join(dir, 'app.js')
  const lines = ['function load(text) {', '  return JSON.parse(text)', '}', "load('{}')", '']
  fs.writeFileSync(file, lines.join('\n'))
  writeTrace(path.join(dir, 'a.trace.json'), {
    start: START_US,
    spans: [
      [`load ${file}:1:14@2`, 900],
      [`other ${file}:4`, 100],
    ],
  })
  const sentence = '90 % of the work is JSON.parse, called by load (app.js:1).'
  const find = async () => (await report(dir)).sentence
  assert.equal(await find(), sentence)
  assert.equal(JSON.parse(await pageData([dir], {})).sentence, sentence)
  // A file that has changed since tells nothing.
  fs.writeFileSync(file, ['// A new line.', ...lines].join('\n'))
  assert.equal(await find(), '90 % of the work is load (app.js).')
})

test('the sentence comes first in the terminal, in Markdown and in JSON', async () => {
  const { recordings, sentence = '' } = PROGRAMS['one own function']
  const dir = write(recordings)
  const text = (await cli(['report', dir])).stdout
  assert.equal(text.split('\n')[0], sentence)
  const markdown = (await cli(['report', '--markdown', dir])).stdout
  assert.equal(markdown.split('\n')[0], sentence)
  assert.equal(JSON.parse((await cli(['report', '--json', dir])).stdout).sentence, sentence)
})

test('names in the sentence are texts, whatever they are', async () => {
  const name = 'x\u001b[31m|`<b>\u202e'
  const dir = write([{ spans: [[[{ name, file: 'app.js', line: 2 }], 500]] }])
  const text = (await cli(['report', dir])).stdout
  assert.ok(!text.includes('\u001b[31m') && !text.includes('\u202e'), text)
  const markdown = (await cli(['report', '--markdown', dir])).stdout.split('\n')[0]
  assert.equal(markdown, '100 % of the work is x ``[31m|`<b>``  (app.js:2).')
})
