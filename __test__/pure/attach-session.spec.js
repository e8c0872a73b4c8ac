'use strict'

// The protocol of Node's inspector, as the sessions with workers speak it.

const assert = require('node:assert/strict')
const test = require('node:test')
const { Session } = require('../../cli/attach/session.js')

test('what goes to a worker is ASCII, and means the same', () => {
  /** @type {any[]} */
  const sent = []
  const main = new Session((message) => sent.push(JSON.parse(message)))
  main.addWorker('1')
  const worker = /** @type {Session} */ (main.workers.get('1'))
  worker.addWorker('2')
  const expression = 'require("/tmp/é日 🦀/index.js")\u2028'
  // Nobody answers.
  worker.workers.get('2')?.evaluate(expression)
  const [{ method, params }] = sent
  assert.deepEqual([method, params.sessionId], ['NodeWorker.sendMessageToWorker', '1'])
  assert.match(params.message, /^[\x20-\x7e]+$/)
  const inner = JSON.parse(params.message)
  assert.match(inner.params.message, /^[\x20-\x7e]+$/)
  assert.equal(JSON.parse(inner.params.message).params.expression, expression)
})
