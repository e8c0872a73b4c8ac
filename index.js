'use strict'
if (module.parent?.id === 'internal/preload') require('./register.js')
