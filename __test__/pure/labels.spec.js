'use strict'

// The labels of recordings, in reports and merged traces.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { merge, report } = require('../../index.js')
const { cli } = require('../helpers/cli.js')
const { temporaryDirectory } = require('../helpers/files.js')
const { writeTrace } = require('../helpers/written.js')

/** Writes recordings of one thread, one after the other. @param {(string | undefined)[]} labels */
function writeLabelled(labels) {
  const dir = temporaryDirectory()
  return labels.map((recordingLabel, index) =>
    writeTrace(path.join(dir, `${index}.trace.json`), {
      label: 'app.js',
      recordingLabel,
      start: 1e9 + index * 100_000,
      spans: [['main app.js:1 > work app.js:2', 20]],
    }),
  )
}

/** Returns the name and the label of each thread in a report. @param {string | string[]} inputs */
async function threadsOf(inputs) {
  const { processes } = await report(inputs)
  return processes.flatMap(({ threads }) => threads.map(({ name, label }) => [name, label]))
}

test('a label is shown with its thread and its process, which is named without the label', async () => {
  const [file] = writeLabelled(['parser: big file'])
  assert.deepEqual(await threadsOf(file), [['main: parser: big file', 'parser: big file']])
  const [{ command, name }] = (await report(file)).processes
  assert.deepEqual([command, name], ['app.js', 'app.js'])
  const { stdout } = await cli(['report', file])
  assert.match(stdout, /\n {2}app\.js: parser: big file \(7\) /)
  const markdown = await cli(['report', file, '--markdown'])
  assert.match(markdown.stdout, /app\.js: parser: big file/)
})

test('a thread has no label unless all its recordings have the same', async () => {
  const files = writeLabelled(['one', 'two', 'two', undefined])
  const [one, two, again, none] = files
  const merged = path.join(temporaryDirectory(), 'merged.json')
  for (const [inputs, label] of /** @type {[string[], string | undefined][]} */ ([
    [[one], 'one'],
    [[none], undefined],
    [[two, again], 'two'],
    [[one, two], undefined],
    [[two, none], undefined],
    [[none, two], undefined],
    [files, undefined],
    [[one, one], 'one'],
  ])) {
    const expected = [[label === undefined ? 'main' : `main: ${label}`, label]]
    const what = inputs.map((file) => files.indexOf(file)).join()
    assert.deepEqual(await threadsOf(inputs), expected, what)
    for (const slice of [{}, { from: 0 }]) {
      await merge(inputs, merged, slice)
      assert.deepEqual(await threadsOf(merged), expected, `merged ${what}`)
      const [{ command }] = (await report(merged)).processes
      assert.equal(command, 'app.js')
    }
  }
  await merge(files, merged)
  const text = fs.readFileSync(merged, 'utf8')
  assert.doesNotMatch(text, /recordingLabel|main: |\[two\]/)
})

test('a strange label is shown in one line, and a long one is cut', async () => {
  const labels = ['../../up', 'line\nbreak "\\', '🚀', 'x'.repeat(300)]
  const shown = []
  for (const file of writeLabelled(labels)) shown.push((await threadsOf(file))[0])
  assert.deepEqual(shown, [
    ['main: ../../up', '../../up'],
    ['main: line break "\\', 'line\nbreak "\\'],
    ['main: 🚀', '🚀'],
    [`main: ${'x'.repeat(79)}…`, 'x'.repeat(300)],
  ])
})
