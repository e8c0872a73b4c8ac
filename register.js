'use strict'

// Records the thread that loads this file: `node --import @org/cpu-prof/register main.mjs`.

require('./lib/preload.js').register(() => require('./lib/thread.js'))
