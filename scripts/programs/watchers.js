'use strict'

// Programs that watch files, and run again when one of them changes.

const { ROOT_PACKAGE, SERVER, VALUE } = require('./files.js')

const SERVER_FILES = { 'package.json': ROOT_PACKAGE, 'server.js': SERVER, 'value.js': VALUE }
const STARTED = /started 1/g
/** @type {Pick<import('./programs.js').Program, 'steps' | 'code'>} */
const RESTARTS = { steps: { started: STARTED, change: 'value.js' }, code: 130 }

/** @type {import('./programs.js').Program[]} */
const PROGRAMS = [
  {
    name: 'nodemon',
    version: '3.1.14',
    packages: { nodemon: '3.1.14' },
    files: SERVER_FILES,
    command: ['nodemon', 'server.js'],
    ...RESTARTS,
    processes: 3,
  },
  {
    name: 'npm run dev',
    version: '11.19.1',
    tools: { npm: '11.19.1' },
    packages: { nodemon: '3.1.14' },
    files: {
      ...SERVER_FILES,
      'package.json': { ...ROOT_PACKAGE, scripts: { dev: 'nodemon server.js' } },
    },
    command: ['npm', 'run', 'dev'],
    ...RESTARTS,
    processes: 4,
    remark: 'nodemon below npm',
  },
  {
    name: 'node --watch',
    version: process.versions.node,
    files: SERVER_FILES,
    command: ['node', '--watch', 'server.js'],
    ...RESTARTS,
    code: 0,
    processes: 3,
    notRecorded: /^node --watch /,
    remark: "Node's own watcher process loads no preload, and runs no user code",
  },
  {
    name: 'tsx watch',
    version: '4.23.15',
    packages: { tsx: '4.23.15' },
    files: {
      'package.json': ROOT_PACKAGE,
      'server.ts': `
        import { createServer } from 'node:http'
        import { value } from './value'
        const server: ReturnType<typeof createServer> = createServer()
        server.listen(0, '127.0.0.1', () => console.log('started', value))`,
      'value.ts': 'export const value: number = 1\n',
    },
    command: ['tsx', 'watch', 'server.ts'],
    steps: { started: STARTED, change: 'value.ts' },
    code: 130,
    processes: 3,
  },
  {
    name: 'jest --watchAll',
    version: '30.5.2',
    packages: { jest: '30.5.2' },
    files: {
      'package.json': ROOT_PACKAGE,
      'value.js': VALUE,
      'a.test.js': "test('value', () => expect(require('./value.js').value).toBe(1))\n",
      'b.test.js': "test('other', () => expect(1).toBe(1))\n",
    },
    command: ['jest', '--watchAll'],
    steps: { started: /Ran all test suites/g, change: 'value.js' },
    prints: /Tests: +2 passed, 2 total/,
    processes: 1,
    // Progress is drawn at intervals, in the form of the summary.
    varying: [
      [/^.*(RUNS|Determining test suites|Test Suites:|Tests:|Snapshots:|Time:).*$/gm, ''],
      // Only slow tests have a time.
      [/ \([\d.]+ s\)/g, ''],
    ],
    anyOrder: true,
  },
  {
    name: 'vitest --watch',
    version: '3.2.7',
    packages: { vitest: '3.2.7' },
    files: {
      'package.json': { ...ROOT_PACKAGE, type: 'module' },
      'value.js': 'export const value = 1\n',
      'a.test.js': `
        import { expect, test } from 'vitest'
        import { value } from './value.js'
        test('value', () => expect(value).toBe(1))`,
    },
    command: ['vitest', '--watch'],
    steps: { started: /Waiting for file changes/g, change: 'value.js' },
    code: 130,
    prints: /Tests +1 passed \(1\)/,
    processes: 2,
    // Progress is drawn at intervals, in the form of the summary.
    varying: [[/^.*(❯|Test Files|Tests|Start at|Duration).*$/gm, '']],
    remark: 'vitest 5 needs Node 22',
  },
  {
    name: 'tsc -w',
    version: '5.9.3',
    packages: { typescript: '5.9.3' },
    files: {
      'package.json': ROOT_PACKAGE,
      'tsconfig.json': { compilerOptions: { outDir: 'out', types: [] }, include: ['src'] },
      'src/value.ts': 'export const value: number = 1\n',
    },
    command: ['tsc', '-w'],
    steps: { started: /Found 0 errors/g, change: 'src/value.ts' },
    code: 130,
    processes: 1,
    remark: 'TypeScript 7 is no Node program',
  },
  {
    name: 'webpack --watch',
    version: '5.112.2',
    packages: { webpack: '5.112.2', 'webpack-cli': '6.0.1' },
    files: {
      'package.json': ROOT_PACKAGE,
      'webpack.config.js':
        "module.exports = { mode: 'development', entry: './server.js', target: 'node' }\n",
      'server.js': SERVER,
      'value.js': VALUE,
    },
    command: ['webpack', '--watch'],
    steps: { started: /compiled successfully/g, change: 'value.js' },
    code: 0,
    processes: 1,
  },
]

module.exports = { PROGRAMS }
