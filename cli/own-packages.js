'use strict'

// What the packages that are released with this one may use of it. It is not for users, and changes at any time.

/** @typedef {import('./report/tables.js').By} By */
/** @typedef {import('./report/tables.js').CostTable} CostTable */
/** @typedef {import('./run/after/collect.js').Run} EndedRun */
/** @typedef {import('./run/prepare/recordings-dir.js').Header} Header */
/** @typedef {import('./run/run.js').Options} RunOptions */

/** The files, each of which is loaded when it is first used. */
module.exports = {
  get addon() {
    return require('../lib/addon.js')
  },
  get budget() {
    return require('./report/budget.js')
  },
  get child() {
    return require('./run/watch/child.js')
  },
  get cleanup() {
    return require('./terminal/cleanup.js')
  },
  get code() {
    return require('./report/code.js')
  },
  get codeFile() {
    return require('./report/code-file.js')
  },
  get commander() {
    return require('commander')
  },
  get compareMarkdown() {
    return require('./compare/markdown.js')
  },
  get compareRows() {
    return require('./compare/rows.js')
  },
  get compareRules() {
    return require('../lib/compare-rules.js')
  },
  get compareText() {
    return require('./compare/text.js')
  },
  get defect() {
    return require('../lib/errors/defect.js')
  },
  get errorText() {
    return require('./terminal/error-text.js')
  },
  get exitCodes() {
    return require('./exit-codes.js')
  },
  get format() {
    return require('./terminal/format.js')
  },
  get html() {
    return require('./report/html.js')
  },
  get input() {
    return require('./terminal/input.js')
  },
  get jsonResult() {
    return require('../lib/json-result.js')
  },
  get labels() {
    return require('./report/labels.js')
  },
  get main() {
    return require('./main.js')
  },
  get markdownText() {
    return require('./terminal/markdown-text.js')
  },
  get offline() {
    return require('../lib/offline.js')
  },
  get options() {
    return require('./options.js')
  },
  get output() {
    return require('./terminal/output.js')
  },
  get outputDir() {
    return require('./run/prepare/output-dir.js')
  },
  get packageManager() {
    return require('../lib/addon/package-manager.js')
  },
  get packages() {
    return require('../lib/packages.js')
  },
  get pathText() {
    return require('./terminal/path-text.js')
  },
  get record() {
    return require('./run/record.js')
  },
  get recordingsDir() {
    return require('./run/prepare/recordings-dir.js')
  },
  get run() {
    return require('./run/run.js')
  },
  get searchAddon() {
    return require('../lib/search-addon.js')
  },
  get settings() {
    return require('../lib/settings.js')
  },
  get shell() {
    return require('./terminal/shell.js')
  },
  get summary() {
    return require('./report/summary.js')
  },
  get system() {
    return require('./system/index.js')
  },
  get tables() {
    return require('./report/tables.js')
  },
  get units() {
    return require('./terminal/units.js')
  },
  get width() {
    return require('./terminal/width.js')
  },
  get wrongUsage() {
    return require('../lib/errors/wrong-usage.js')
  },
}
