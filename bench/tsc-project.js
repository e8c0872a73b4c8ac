'use strict'

// The project that the benchmarks compile with TypeScript: a real library.

const fs = require('node:fs')
const path = require('node:path')

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  types: [],
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  lib: ['es2022', 'dom', 'dom.iterable'],
}

/** Writes the project to a folder. Returns the arguments of the compiler's run. @param {string} dir */
function writeProject(dir) {
  // The copy is outside node_modules, where tsc would treat the sources as a dependency's.
  const source = path.join(path.dirname(require.resolve('effect/package.json')), 'src')
  fs.cpSync(source, path.join(dir, 'src'), { recursive: true })
  fs.writeFileSync(
    path.join(dir, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['src/Schema.ts'] }),
  )
  return [path.join(__dirname, '..', 'node_modules', 'typescript', 'bin', 'tsc'), '-p', dir]
}

module.exports = { writeProject }
