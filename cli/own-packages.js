'use strict'

// What the packages that are released with this one may use of it, by file. It is not for users, and changes at any time.

/** @typedef {import('./report/tables.js').By} By */
/** @typedef {import('./report/tables.js').CostTable} CostTable */
/** @typedef {import('./run/run.js').Options} RunOptions */

/** Each file is loaded when it is first used. */
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
  get code() {
    return require('./report/code.js')
  },
  get codeFile() {
    return require('./report/code-file.js')
  },
  get compareRows() {
    return require('./compare/rows.js')
  },
  get defect() {
    return require('../lib/errors/defect.js')
  },
  get errorText() {
    return require('./terminal/error-text.js')
  },
  get format() {
    return require('./terminal/format.js')
  },
  get labels() {
    return require('./report/labels.js')
  },
  get main() {
    return require('./main.js')
  },
  get offline() {
    return require('../lib/offline.js')
  },
  get output() {
    return require('./terminal/output.js')
  },
  get outputDir() {
    return require('./run/prepare/output-dir.js')
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
  get settings() {
    return require('../lib/settings.js')
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
}
