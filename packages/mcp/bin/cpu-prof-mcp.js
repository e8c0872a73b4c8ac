#!/usr/bin/env node
'use strict'

// The command `cpu-prof-mcp`, which is `cpu-prof mcp`.

const { endWith } = require('@org/cpu-prof/own-packages').output
const { main } = require('@org/cpu-prof/own-packages').main
const { provide } = require('@org/cpu-prof/own-packages').packages

process.on('uncaughtException', endWith)
// Not every package manager shows this package to the other one.
provide('mcp', require('../hook.js'))
const [node, script, ...words] = process.argv
main([node, script, 'mcp', ...words]).catch(endWith)
