'use strict'
require('./binding.js').record({threadId: require('./binding.js').isFirstThread() ? 0 : require('worker_threads').threadId, argv: process.argv, execArgv: process.execArgv, version: process.version})
