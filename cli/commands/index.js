'use strict'

// The commands in the order of the help. Each loads its working code only when it is called.

const { ofPackage } = require('./of-package.js')

module.exports = [
  require('./run.js'),
  require('./merge.js'),
  require('./report.js'),
  require('./top.js'),
  require('./compare.js'),
  require('./convert.js'),
  require('./check.js'),
  require('./processes/ps.js'),
  require('./processes/record.js'),
  require('./processes/start.js'),
  require('./processes/stop.js'),
  require('./processes/status.js'),
  ofPackage('lake', 'fleet'),
  ofPackage('push', 'fleet'),
  ofPackage('mcp', 'mcp'),
]
