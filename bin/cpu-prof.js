#!/usr/bin/env node
'use strict'

require('../cli/program.js').main(process.argv)
