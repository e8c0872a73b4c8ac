'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { temporaryDirectory, PACKAGE } = require('./files.js')

const MODULES = path.join(PACKAGE, 'node_modules')

/** Writes files. @param {string} dir @param {Record<string, string | object>} files contents by name */
function write(dir, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(dir, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
}

/** The files of a package whose lint rules need TypeScript's types. */
const TYPED_LINT = {
  'tsconfig.json': {
    compilerOptions: { strict: true, noEmit: true, module: 'nodenext', types: [] },
    include: ['src'],
  },
  'eslint.config.mjs': `
    import tseslint from 'typescript-eslint'
    export default tseslint.config(...tseslint.configs.recommendedTypeChecked, {
      languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname ?? process.cwd() } },
    })`,
  'src/index.ts': `
    export async function work(): Promise<number> {
      return await Promise.resolve(1)
    }
    export async function forget(): Promise<void> {
      await work()
    }`,
}

/** Creates an nx workspace of two packages, each with a script that runs ESLint. */
function nxWorkspace() {
  const dir = temporaryDirectory('cpu-prof-nx-')
  write(dir, {
    'package.json': { name: 'workspace', private: true, workspaces: ['packages/*'] },
    'nx.json': { neverConnectToCloud: true, analytics: false },
    '.gitignore': 'node_modules\n.nx\n',
  })
  for (const name of ['api', 'web']) {
    const scripts = { lint: 'eslint src' }
    write(path.join(dir, 'packages', name), {
      'package.json': { name: `@workspace/${name}`, version: '1.0.0', type: 'module', scripts },
      ...TYPED_LINT,
    })
  }
  fs.symlinkSync(MODULES, path.join(dir, 'node_modules'))
  return dir
}

module.exports = { write, nxWorkspace, TYPED_LINT, MODULES }
