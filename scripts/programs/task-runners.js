'use strict'

// Programs that run the tasks of a workspace.

const { TASK, workspace } = require('./files.js')

const ROOT_PACKAGE = {
  name: 'root',
  version: '1.0.0',
  private: true,
  workspaces: ['packages/*'],
  packageManager: 'npm@11.19.1',
}
const NX_JSON = { 'nx.json': { neverConnectToCloud: true, analytics: false } }
/** @type {Pick<import('./programs.js').Program, 'version' | 'packages' | 'files' | 'command' | 'prints' | 'anyOrder'>} */
const NX = {
  version: '24.0.6',
  packages: { nx: '24.0.6' },
  files: {
    'package.json': ROOT_PACKAGE,
    '.gitignore': 'node_modules\n.nx\n',
    ...NX_JSON,
    ...workspace(['a', 'b']),
  },
  command: ['nx', 'run-many', '-t', 'build', '--output-style=static'],
  prints: /Successfully ran target build for 2 projects/,
  anyOrder: true,
}

/** @type {import('./programs.js').Program[]} */
const PROGRAMS = [
  {
    name: 'turbo',
    version: '2.11.11',
    packages: { turbo: '2.11.11' },
    files: {
      'package.json': ROOT_PACKAGE,
      '.gitignore': 'node_modules\n.turbo\n',
      'turbo.json': { tasks: { build: {} } },
      ...workspace(['a', 'b']),
    },
    command: ['turbo', 'run', 'build'],
    prints: /2 successful, 2 total/,
    processes: 7,
    anyOrder: true,
    remark: 'strict environment mode, the default',
  },
  { name: 'nx, no daemon', ...NX, env: { NX_DAEMON: 'false' }, processes: 7 },
  {
    name: 'nx, daemon',
    ...NX,
    env: { NX_DAEMON: 'true' },
    stop: ['nx', 'daemon', '--stop'],
    processes: 8,
  },
  {
    name: 'lerna',
    version: '9.0.7',
    packages: { lerna: '9.0.7' },
    files: {
      'package.json': ROOT_PACKAGE,
      '.gitignore': 'node_modules\n.nx\n',
      ...NX_JSON,
      'lerna.json': { version: '1.0.0' },
      ...workspace(['a', 'b']),
    },
    env: { NX_DAEMON: 'false' },
    command: ['lerna', 'run', 'build'],
    prints: /Successfully ran target build for 2 projects/,
    processes: 5,
    anyOrder: true,
    remark: 'lerna 10 needs Node 22',
  },
  {
    name: 'wireit',
    version: '0.14.13',
    packages: { wireit: '0.14.13' },
    files: {
      'task.js': TASK,
      '.gitignore': 'node_modules\n.wireit\n',
      'package.json': {
        name: 'root',
        version: '1.0.0',
        private: true,
        scripts: { build: 'wireit', compile: 'wireit' },
        wireit: {
          build: { command: 'node task.js build', dependencies: ['compile'] },
          compile: { command: 'node task.js compile', files: ['task.js'], output: [] },
        },
      },
    },
    command: ['npm', 'run', 'build'],
    prints: /build done, child 0/,
    processes: 6,
    // Progress is printed at intervals.
    varying: [[/^.*\d% \[\d+ \/ \d+\].*$/gm, '']],
  },
  {
    name: 'npm-run-all',
    version: '4.1.5',
    packages: { 'npm-run-all': '4.1.5' },
    files: {
      'task.js': TASK,
      'package.json': {
        name: 'root',
        version: '1.0.0',
        private: true,
        scripts: { 'build:a': 'node task.js a', 'build:b': 'node task.js b 5' },
      },
    },
    command: ['npm-run-all', '--parallel', '--continue-on-error', '--print-label', 'build:*'],
    code: 1,
    prints: /b done, child 0/,
    processes: 7,
    anyOrder: true,
  },
  {
    name: 'concurrently',
    version: '9.2.5',
    packages: { concurrently: '9.2.5' },
    files: { 'task.js': TASK, 'package.json': { name: 'root', version: '1.0.0', private: true } },
    command: ['concurrently', 'node task.js a', 'node task.js b 5'],
    code: 1,
    prints: /node task.js b 5 exited with code 5/,
    processes: 5,
    anyOrder: true,
    remark: 'concurrently 10 needs Node 22',
  },
]

module.exports = { PROGRAMS }
