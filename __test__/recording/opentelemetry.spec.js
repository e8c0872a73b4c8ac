'use strict'

// The hook of docs/labels.md, as a reader would copy it, with the SDK of OpenTelemetry.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const { cli } = require('../helpers/cli.js')
const { assertLabels } = require('../helpers/labelled.js')
const { run, temporaryDirectory, FIXTURES, PACKAGE } = require('../helpers/run.js')

const options = { skip: process.platform !== 'linux' && 'labels are recorded on Linux' }

/** What each program begins with. */
const START = `
  require('./tracing.js')
  const { context, trace, ROOT_CONTEXT } = require('@opentelemetry/api')
  const { EventEmitter } = require('node:events')
  const { setTimeout: wait } = require('node:timers/promises')
  const { spin } = require(${JSON.stringify(path.join(FIXTURES, 'spin.js'))})
  const tracer = trace.getTracer('spec')
  const ids = (span) => {
    const { traceId, spanId } = span.spanContext()
    return { traceId, spanId }
  }`

/** Writes a project with the hook of the page and a program. @param {string} source */
function projectOf(source) {
  const cwd = temporaryDirectory()
  const page = fs.readFileSync(path.join(PACKAGE, 'docs', 'labels.md'), 'utf8')
  const [, hook] = /```js\n(\/\/ tracing\.js[\s\S]*?)\n```/.exec(page) ?? []
  fs.mkdirSync(path.join(cwd, 'node_modules', '@org'), { recursive: true })
  fs.symlinkSync(PACKAGE, path.join(cwd, 'node_modules', '@org', 'cpu-prof'))
  const scope = path.join('node_modules', '@opentelemetry')
  fs.symlinkSync(path.join(PACKAGE, scope), path.join(cwd, scope))
  fs.writeFileSync(path.join(cwd, 'tracing.js'), hook)
  fs.writeFileSync(path.join(cwd, 'server.js'), `${START}\n${source}`)
  return cwd
}

/** Records a program, which prints JSON. @param {string} source */
async function record(source) {
  const cwd = projectOf(source)
  const { code, stdout, stderr, traces } = await run(['./server.js'], { cwd })
  assert.deepEqual([code, stderr], [0, ''])
  return { cwd, output: JSON.parse(stdout), trace: traces[0] }
}

test('the id of a slow trace leads to its function', options, async () => {
  const { cwd, output } = await record(`
    function renderAll() {
      const { user } = process.cpuUsage()
      let sum = 0
      while (process.cpuUsage().user - user < 600_000) {
        for (let i = 0; i < 1e6; i++) sum += Math.sqrt(i)
      }
      return sum
    }
    function readRow() { return spin(20) }
    const answer = (n) => tracer.startActiveSpan('GET /rows', async (request) => {
      await tracer.startActiveSpan('read', async (span) => {
        await wait(1)
        readRow()
        span.end()
      })
      if (n === 7) tracer.startActiveSpan('render', (span) => { renderAll(); span.end() })
      request.end()
      return request.spanContext().traceId
    })
    Promise.all(Array.from({ length: 20 }, (_, n) => answer(n))).then((traces) => {
      console.log(JSON.stringify(traces))
    })
  `)
  const slow = output[7]
  const report = async (/** @type {string[]} */ ...args) => {
    const { code, stdout, stderr } = await cli(['report', '.', '--json', ...args], { cwd })
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const { labels } = await report('--by', 'label:traceId', '--top', '30')
  assert.equal(labels[0].labels.traceId, slow)
  const others = labels.slice(1).map((/** @type {any} */ { labels }) => labels.traceId ?? output[0])
  assert.ok(others.length > 1 && others.every((/** @type {string} */ id) => output.includes(id)))
  const { functions } = await report('--label', `traceId=${slow}`)
  assert.equal(functions[0].name, 'renderAll')
})

test('labels are those of the active span', options, async () => {
  const { output, trace } = await record(`
    const MS = 300
    function outer() { return spin(MS) }
    function inner() { return spin(MS) }
    function again() { return spin(MS) }
    function later() { return spin(MS) }
    function bound() { return spin(MS) }
    function listener() { return spin(MS) }
    function unspanned() { return spin(MS) }
    function outside() { return spin(MS) }
    function first() { return spin(MS / 2) }
    function second() { return spin(MS / 2) }
    const found = {}
    const parallel = (name, work) => tracer.startActiveSpan(name, async (span) => {
      found[name] = ids(span)
      work()
      await wait(1)
      work()
      span.end()
    })
    const emitter = new EventEmitter()
    let boundLater
    tracer.startActiveSpan('outer', async (span) => {
      found.outer = ids(span)
      outer()
      tracer.startActiveSpan('inner', (span) => {
        found.inner = ids(span)
        inner()
        boundLater = context.bind(context.active(), bound)
        context.bind(context.active(), emitter).on('event', listener)
        span.end()
      })
      again()
      context.with(ROOT_CONTEXT, unspanned)
      await Promise.all([parallel('first', first), parallel('second', second)])
      later()
      span.end()
    }).then(() => {
      boundLater()
      emitter.emit('event')
      console.log(JSON.stringify(found))
    })
    outside()
  `)
  assert.equal(new Set(Object.values(output).map(({ spanId }) => spanId)).size, 4)
  for (const [name, span] of Object.entries({
    outer: 'outer',
    inner: 'inner',
    again: 'outer',
    later: 'outer',
    bound: 'inner',
    listener: 'inner',
    first: 'first',
    second: 'second',
  })) {
    assertLabels(trace, name, output[span])
  }
  for (const name of ['unspanned', 'outside']) assertLabels(trace, name, undefined)
})
