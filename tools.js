'use strict'

// What is done with recordings afterwards. Loaded when it is asked for: a preload must not pay.

const binding = require('./binding.js')

/** @param {unknown} inputs @param {Record<string, unknown>} [options] */
async function report(inputs, options = {}) {
  const paths = Array.isArray(inputs) ? inputs : [inputs]
  if (paths.length === 0) throw new Error('cpu-prof: report() takes at least one file or folder')
  for (const path of paths) check('a path', path, 'string')
  check('options', options, 'object')
  const { top = 20, from = 0, to = Infinity, ...unknown } = options
  for (const name of Object.keys(unknown)) {
    throw new TypeError(`cpu-prof: ${name} is not an option of report() (there are top, from, to)`)
  }
  for (const [name, value] of Object.entries({ top, from, to })) {
    check(name, value, 'number')
    if (!(Number(value) >= 0)) throw new RangeError(`cpu-prof: ${name} must be 0 or more`)
  }
  if (Number(from) >= Number(to)) throw new RangeError('cpu-prof: from must be less than to')
  return JSON.parse(await call(() => binding.load().report(paths, top, from, to)))
}

/** @param {unknown} input @param {unknown} output */
async function convert(input, output) {
  check('the input', input, 'string')
  check('the output', output, 'string')
  const files = JSON.parse(await call(() => binding.load().convert(input, output)))
  return { files }
}

/** @param {string} name @param {unknown} value @param {string} type */
function check(name, value, type) {
  if (value === null || Array.isArray(value) || typeof value !== type) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value
    throw new TypeError(`cpu-prof: ${name} must be of type ${type}, not ${kind}`)
  }
}

/** Says whose error it is. @param {() => Promise<string>} work */
async function call(work) {
  try {
    return await work()
  } catch (error) {
    throw new Error(`cpu-prof: ${error instanceof Error ? error.message : error}`)
  }
}

module.exports = { report, convert }
