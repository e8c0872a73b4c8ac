'use strict'

// Opens a lake for a question, and prints the answer, or why there is none.

const { writePage } = require('@org/cpu-prof/own-packages').html
const { jsonText } = require('@org/cpu-prof/own-packages').format
const { failWith, isStdout, printResult } = require('@org/cpu-prof/own-packages').output
const { screen } = require('@org/cpu-prof/own-packages').width
const { VARIABLE, neededLake } = require('../base/lake-of.js')
const { openLake } = require('./duckdb.js')

/**
 * @typedef {object} Output
 * @property {boolean} [json]
 * @property {boolean} [markdown]
 * @property {string} [html]
 * @property {number} [top]
 *
 * @typedef {ReturnType<typeof screen>} Screen
 */

/**
 * Asks a lake, and prints the answer as the options say. Returns the answer; undefined if there is none,
 * which sets the exit code.
 * @template T
 * @param {string | undefined} place the lake; without, CPU_PROF_LAKE names it. A question gets the name as it was given
 * @param {() => { range: import('./duckdb.js').OpenOptions, question: (lake: import('./duckdb.js').Lake, name: string) => Promise<T> }} plan
 * @param {Output} output
 * @param {{ text: (answer: T, screen: Screen) => string, markdown: (answer: T) => string, json: (answer: T) => unknown, html: (answer: T) => string }} render
 * @returns {Promise<T | undefined>}
 */
async function ask(place, plan, { json, markdown, html }, render) {
  return orFail(async () => {
    const { range, question } = plan()
    const lake = await openLake(asked(place), { ...range, tables: ['functions', 'groups'] })
    let answer
    try {
      answer = await question(lake, place ?? String(process.env[VARIABLE]))
    } finally {
      lake.close()
    }
    if (html !== undefined) await writePage(html, async () => render.html(answer))
    if (html === undefined || !isStdout(html)) {
      if (json) printResult(jsonText(render.json(answer)))
      else if (markdown) printResult(render.markdown(answer))
      else printResult(render.text(answer, screen(process.stdout)))
    }
    return answer
  })
}

/** Returns the lake of a question. @param {string | undefined} place */
const asked = (place) => neededLake(place, 'cpu-prof lake <command> <lake>')

/** Does something, or prints why it cannot be done. @template T @param {() => Promise<T>} work */
async function orFail(work) {
  try {
    return await work()
  } catch (error) {
    failWith(error)
    return undefined
  }
}

module.exports = { ask, asked, orFail }
