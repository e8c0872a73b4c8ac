'use strict'

// Keeps each program in a temporary folder: its project, tools, home folder and caches.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const ROOT = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'programs-')))

/** Variables that keep tools from sending data and from printing what changes from day to day. */
const QUIET = {
  DISABLE_OPENCOLLECTIVE: '1',
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NO_UPDATE_NOTIFIER: '1',
  NX_NO_CLOUD: 'true',
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
  TURBO_NO_UPDATE_NOTIFIER: '1',
  TURBO_TELEMETRY_DISABLED: '1',
  YARN_ENABLE_TELEMETRY: '0',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
}

/** A program's folders. @typedef {ReturnType<typeof foldersOf>} Folders */

/** @param {string} name of the program */
function foldersOf(name) {
  const dir = path.join(ROOT, name.replace(/[^\w.-]+/g, '-'))
  return {
    dir,
    tools: path.join(dir, 'tools'),
    template: path.join(dir, 'template'),
    project: path.join(dir, 'project'),
    home: path.join(dir, 'home'),
    tmp: path.join(dir, 'tmp'),
  }
}

/**
 * Creates the project of a program, installs what it needs, and commits it.
 * @param {import('./programs.js').Program} program @returns {Folders}
 */
function createSandbox({ name, files, packages, tools, prepare = [], env }) {
  const folders = foldersOf(name)
  write(folders.template, { '.gitignore': 'node_modules\n', ...files })
  createHome(folders)
  if (tools) install(tools, folders.tools)
  if (packages) install(packages, folders.template)
  const inTemplate = { cwd: folders.template, env: environment(folders, env) }
  const commands = [['git', 'init', '--quiet', '--initial-branch=main'], ...prepare]
  commands.push(['git', 'add', '--all'], ['git', 'commit', '--quiet', '--message', 'First'])
  for (const [file, ...args] of commands) run(file, args, inTemplate)
  return folders
}

/** Installs packages with exact versions. @param {Record<string, string>} packages @param {string} dir */
function install(packages, dir) {
  fs.mkdirSync(dir, { recursive: true })
  const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`)
  // The user's own settings say where packages come from; npm's cache serves all programs.
  const env = { ...process.env, npm_config_cache: path.join(ROOT, 'npm-cache') }
  run('npm', ['install', '--save-exact', '--save-dev', '--no-audit', '--no-fund', ...named], {
    cwd: dir,
    env,
  })
}

/** @param {string} file @param {string[]} args @param {import('node:child_process').ExecFileSyncOptions} options */
function run(file, args, options) {
  try {
    execFileSync(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout: Buffer, stderr: Buffer }} */ (error)
    throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

/** Makes the project and the home folder new. @param {Folders} folders */
function resetProject(folders) {
  createHome(folders)
  fs.rmSync(folders.project, { recursive: true, force: true })
  // `cp` keeps links, times and modes.
  run('cp', ['--archive', folders.template, folders.project], { cwd: folders.dir })
}

/** Creates the home folder and the one for temporary files. @param {Folders} folders */
function createHome({ home, tmp }) {
  for (const dir of [home, tmp]) fs.rmSync(dir, { recursive: true, force: true })
  fs.mkdirSync(tmp, { recursive: true })
  write(home, {
    '.gitconfig': '[user]\nname = N\nemail = n@localhost\n',
    // Some tools keep npm's variables from their tasks.
    '.npmrc': 'update-notifier=false\n',
  })
}

/** Returns the environment of a program. @param {Folders} folders @param {Record<string, string>} [env] */
function environment({ tools, project, home, tmp }, env) {
  const bins = [
    path.join(tools, 'node_modules', '.bin'),
    path.join(project, 'node_modules', '.bin'),
  ]
  const node = path.dirname(process.execPath)
  return {
    ...QUIET,
    HOME: home,
    LANG: 'C.UTF-8',
    PATH: [...bins, node, process.env.PATH].join(path.delimiter),
    TERM: 'xterm-256color',
    TMPDIR: tmp,
    npm_config_cache: path.join(home, '.npm'),
    ...env,
  }
}

/** Returns what the program changed in its project. @param {Folders} folders */
function changes({ project, home }) {
  const args = ['status', '--porcelain', '--', '.', ':!profiles']
  const env = { PATH: process.env.PATH, HOME: home }
  return execFileSync('git', args, { cwd: project, env, encoding: 'utf8' })
}

/** Writes files; those that are not text become JSON. @param {string} dir @param {Record<string, string | object>} files */
function write(dir, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(dir, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    const isText = typeof content === 'string'
    const mode = isText && content.startsWith('#!') ? 0o755 : 0o644
    fs.writeFileSync(file, isText ? content : `${JSON.stringify(content, null, 2)}\n`, { mode })
  }
}

/** Removes folders, unless somebody wants to look. @param {string} dir */
function remove(dir) {
  fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
}

module.exports = { ROOT, createSandbox, resetProject, environment, changes, remove }
