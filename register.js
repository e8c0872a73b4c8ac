'use strict'

// Starts recording the thread that loads it: `node --import @org/cpu-prof/register main.mjs`.
require('./lib/addon.js').register()
