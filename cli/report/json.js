'use strict'

// Renders a report as JSON.

const { jsonText } = require('../terminal/json.js')

/** The list of a report that each table shows. @type {Record<import('./tables.js').By, string>} */
const LISTS = {
  function: 'functions',
  line: 'lines',
  file: 'files',
  package: 'packages',
  owner: 'owners',
  script: 'scripts',
  import: 'imports',
  thread: 'processes',
}

/**
 * Returns the whole report, or with `by` the report without its other lists.
 * @param {import('../../index.js').Report} report @param {import('./tables.js').By} [by]
 */
function renderJson(report, by) {
  return jsonText(by === undefined ? report : only(report, LISTS[by]))
}

/** @param {import('../../index.js').Report} report @param {string} list */
function only(report, list) {
  const others = Object.values(LISTS).filter((name) => name !== list)
  return Object.fromEntries(Object.entries(report).filter(([name]) => !others.includes(name)))
}

module.exports = { renderJson }
