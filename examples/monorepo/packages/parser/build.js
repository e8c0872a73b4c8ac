'use strict'

const { parse } = require('./parse.js')

let depth = 0
for (let round = 0; round < 40; round++) depth += parse('('.repeat(2000) + ')'.repeat(2000))
console.log(`parsed, total depth ${depth}`)
