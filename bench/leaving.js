'use strict'

// Tells the parent, over a pipe of its own, when the `exit` event came.

process.on('exit', () => require('node:fs').writeSync(3, String(process.hrtime.bigint())))
