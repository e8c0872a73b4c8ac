'use strict'

// Programs that start Node processes in their own way.

const { ROOT_PACKAGE, TASK, SERVER, VALUE } = require('./files.js')

/** @type {import('./programs.js').Program[]} */
const PROGRAMS = [
  {
    name: 'pm2',
    version: '7.0.4',
    packages: { pm2: '7.0.4' },
    files: { 'package.json': ROOT_PACKAGE, 'server.js': SERVER, 'value.js': VALUE },
    command: [
      'sh',
      '-c',
      'pm2 start server.js && sleep 2 && pm2 restart server && sleep 1 && pm2 logs --nostream && pm2 kill',
    ],
    prints: /started 1.*started 1.*PM2 Daemon Stopped/s,
    processes: 7,
    varying: [
      [/\d+(\.\d+)?mb/g, '<memory>'],
      [/\d+(\.\d+)?%/g, '<cpu>'],
    ],
  },
  {
    name: 'git hook',
    version: 'as installed',
    files: {
      'package.json': ROOT_PACKAGE,
      'task.js': TASK,
      'hooks/pre-commit':
        '#!/bin/sh\nexec node task.js "hook of $(git diff --cached --name-only)"\n',
      'notes.txt': 'one\n',
    },
    command: ['sh', '-c', 'echo two >> notes.txt && git commit --all --message Second'],
    env: {
      GIT_AUTHOR_DATE: '2000-01-01T00:00:00Z',
      GIT_COMMITTER_DATE: '2000-01-01T00:00:00Z',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: 'hooks',
    },
    prints: /hook of notes.txt done, child 0/,
    processes: 2,
    remark: 'a pre-commit hook that runs node',
  },
  {
    name: 'env -i',
    version: process.versions.node,
    files: { 'package.json': ROOT_PACKAGE, 'task.js': TASK },
    command: [
      'sh',
      '-c',
      'env -i PATH="$PATH" NODE_OPTIONS="$NODE_OPTIONS" node task.js env 6; exit $?',
    ],
    code: 6,
    prints: /env done, child 0/,
    processes: 2,
    remark: 'only `PATH` and `NODE_OPTIONS` are kept',
  },
]

module.exports = { PROGRAMS }
