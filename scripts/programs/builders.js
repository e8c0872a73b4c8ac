'use strict'

// A dev server, a build with many workers, and tests.

const { ROOT_PACKAGE } = require('./files.js')

/** @type {import('./programs.js').Program[]} */
const PROGRAMS = [
  {
    name: 'vite',
    version: '7.3.8',
    packages: { vite: '7.3.8' },
    files: {
      'package.json': { ...ROOT_PACKAGE, type: 'module' },
      'index.html': '<script type="module" src="/main.ts"></script>\n',
      'main.ts': "const text: string = 'vite'\ndocument.title = text\n",
    },
    command: ['vite'],
    steps: { started: /Local:.*localhost/g, request: 'main.ts' },
    code: 130,
    processes: 1,
    remark: 'dev server, one request',
  },
  {
    name: 'next build',
    version: '16.4.6',
    packages: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' },
    files: {
      'package.json': ROOT_PACKAGE,
      '.gitignore': 'node_modules\n.next\n',
      'app/layout.jsx':
        'export default function Layout({ children }) { return <html><body>{children}</body></html> }\n',
      'app/page.jsx': 'export default function Page() { return <h1>next</h1> }\n',
    },
    command: ['next', 'build'],
    prints: /prerendered as static content/,
    processes: 2,
  },
  {
    name: 'playwright test',
    version: '1.65.1',
    packages: { '@playwright/test': '1.65.1' },
    files: {
      'package.json': ROOT_PACKAGE,
      '.gitignore': 'node_modules\ntest-results\n',
      'playwright.config.js': "module.exports = { workers: 2, reporter: 'list' }\n",
      'a.spec.js': playwrightTest('a', 1),
      'b.spec.js': playwrightTest('b', 2),
    },
    command: ['playwright', 'test'],
    code: 1,
    prints: /1 failed.*1 passed/s,
    processes: 3,
    anyOrder: true,
    // The number of a test is that of its end.
    varying: [[/^(\s*\S\s+)[12] /gm, '$1<number> ']],
    remark: 'tests that use no browser',
  },
]

/** @param {string} name @param {number} value */
function playwrightTest(name, value) {
  return `
    const { test, expect } = require('@playwright/test')
    test('${name}', () => expect(${value}).toBe(1))`
}

module.exports = { PROGRAMS }
