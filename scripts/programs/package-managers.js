'use strict'

// npm, npx, pnpm and yarn.

const { ROOT_PACKAGE, TASK, workspace } = require('./files.js')

const NPM = '11.19.1'
const PNPM_WORKSPACE = { 'pnpm-workspace.yaml': 'packages:\n  - packages/*\n' }

/** One package requires another: with Plug'n'Play only yarn's own loader finds it. */
const LINKED = {
  ...workspace(['a']),
  'packages/a/index.js': "exports.name = 'a'\n",
  'packages/b/package.json': {
    name: 'b',
    version: '1.0.0',
    private: true,
    dependencies: { a: 'workspace:*' },
    scripts: { build: 'node index.js' },
  },
  'packages/b/index.js': `
    console.log('b uses', require('a').name)
    process.argv[2] = 'b'
    require('../../task.js')`,
}

/** @type {import('./programs.js').Program[]} */
const PROGRAMS = [
  {
    name: 'npm run',
    version: NPM,
    tools: { npm: NPM },
    files: {
      'task.js': TASK,
      'package.json': {
        ...ROOT_PACKAGE,
        scripts: { prebuild: 'node task.js before', build: 'node task.js build 3' },
      },
    },
    command: ['npm', 'run', 'build'],
    code: 3,
    prints: /build done, child 0/,
    processes: 5,
  },
  {
    name: 'npm install',
    version: NPM,
    tools: { npm: NPM },
    files: {
      'task.js': TASK,
      'part/package.json': { name: 'part', version: '1.0.0' },
      'package.json': {
        ...ROOT_PACKAGE,
        dependencies: { part: 'file:part' },
        scripts: { postinstall: 'node task.js postinstall' },
      },
    },
    command: ['npm', 'install', '--offline', '--foreground-scripts'],
    prints: /postinstall done, child 0/,
    processes: 3,
  },
  {
    name: 'npx',
    version: NPM,
    tools: { npm: NPM },
    files: {
      'package.json': { ...ROOT_PACKAGE, name: 'tool', bin: { tool: 'task.js' } },
      'task.js': `#!/usr/bin/env node${TASK}`,
    },
    command: ['npx', '--offline', 'tool', 'tool', '4'],
    code: 4,
    prints: /tool done, child 0/,
    processes: 3,
  },
  {
    name: 'pnpm -r',
    version: '10.34.8',
    tools: { pnpm: '10.34.8' },
    files: { 'package.json': ROOT_PACKAGE, ...PNPM_WORKSPACE, ...workspace(['a', 'b']) },
    prepare: [['pnpm', 'install', '--offline']],
    command: ['pnpm', '-r', 'run', 'build'],
    prints: /b done, child 0/,
    processes: 5,
    anyOrder: true,
  },
  {
    name: 'pnpm -r (native)',
    version: '12.21.0',
    tools: { pnpm: '12.21.0' },
    files: { 'package.json': ROOT_PACKAGE, ...PNPM_WORKSPACE, ...workspace(['a', 'b']) },
    prepare: [['pnpm', 'install', '--offline']],
    command: ['pnpm', '-r', 'run', 'build'],
    prints: /b done, child 0/,
    processes: 4,
    anyOrder: true,
  },
  {
    name: 'yarn classic',
    version: '1.22.22',
    tools: { yarn: '1.22.22' },
    files: {
      'package.json': { ...ROOT_PACKAGE, workspaces: ['packages/*'] },
      ...workspace(['a', 'b']),
    },
    prepare: [['yarn', 'install', '--offline', '--silent']],
    command: ['yarn', 'workspaces', 'run', 'build'],
    prints: /b done, child 0/,
    processes: 5,
  },
  {
    name: 'yarn berry, PnP',
    version: '4.18.1',
    tools: { '@yarnpkg/cli-dist': '4.18.1' },
    files: {
      'package.json': { ...ROOT_PACKAGE, workspaces: ['packages/*'] },
      '.yarnrc.yml': 'nodeLinker: pnp\nenableGlobalCache: false\n',
      'yarn.lock': '',
      ...LINKED,
    },
    prepare: [['yarn', 'install']],
    command: ['yarn', 'workspaces', 'foreach', '--all', '--topological', 'run', 'build'],
    prints: /b uses a.*b done, child 0/s,
    processes: 5,
  },
]

module.exports = { PROGRAMS }
