'use strict'

// A standalone Spark cluster of two workers on loopback, for a spec.

const { spawn, execFile } = require('node:child_process')
const path = require('node:path')
const { promisify } = require('node:util')
const { VENV } = require('../../../../scripts/fleet/engines.js')
const { cleanEnv, PACKAGE } = require('../../../../__test__/helpers/files.js')

const SCRIPT = path.join(PACKAGE, 'examples', 'lake', 'spark.py')
const BIN = path.join(VENV, 'bin')
/** Ports are free ones: the system chooses them. */
const ON_LOOPBACK = ['--host', '127.0.0.1', '--port', '0', '--webui-port', '0']
const WORKER = ['--cores', '1', '--memory', '1g']

/** Spark starts programs by Python's name. */
const env = () => ({
  ...cleanEnv(),
  SPARK_LOCAL_IP: '127.0.0.1',
  SPARK_NO_DAEMONIZE: '1',
  PYSPARK_PYTHON: path.join(BIN, 'python'),
  PYSPARK_DRIVER_PYTHON: path.join(BIN, 'python'),
})

/**
 * Starts one process of the cluster, and returns what its log says.
 * @param {string[]} args @param {RegExp} pattern of the log, with a group
 * @returns {Promise<{ child: import('node:child_process').ChildProcess, found: string }>}
 */
function start(args, pattern) {
  const child = spawn(path.join(BIN, 'spark-class'), args, {
    env: env(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    let log = ''
    const read = (/** @type {Buffer} */ data) => {
      log += data
      const match = pattern.exec(log)
      if (match) resolve({ child, found: match[1] })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`Spark ended with ${code}:\n${log.slice(-2000)}`)))
  })
}

/**
 * Starts a cluster, and returns its address and what ends it.
 * @param {string} dir of the workers' files
 */
async function startCluster(dir) {
  const master = await start(
    ['org.apache.spark.deploy.master.Master', ...ON_LOOPBACK],
    /Starting Spark master at (spark:\/\/\S+)/,
  )
  const workers = await Promise.all(
    ['1', '2'].map((name) =>
      start(
        [
          'org.apache.spark.deploy.worker.Worker',
          ...ON_LOOPBACK,
          ...WORKER,
          '--work-dir',
          path.join(dir, name),
          master.found,
        ],
        /(Successfully registered)/,
      ),
    ),
  )
  const children = [...workers, master].map(({ child }) => child)
  const end = () =>
    Promise.all(
      children.map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        return ended
      }),
    )
  return { address: master.found, end }
}

/**
 * Asks questions of examples/lake by its own job, and returns the rows of each.
 * @param {string} address of the cluster @param {string} lake a folder
 * @param {string[]} words questions, and values of their parameters
 * @returns {Promise<Record<string, Record<string, any>[]>>}
 */
async function askSpark(address, lake, words) {
  const args = ['--master', address, '--driver-memory', '1g', '--executor-memory', '1g']
  const { stdout } = await promisify(execFile)(
    path.join(BIN, 'spark-submit'),
    [...args, '--conf', 'spark.ui.enabled=false', SCRIPT, `file://${lake}`, ...words],
    { env: env(), maxBuffer: 1 << 28 },
  )
  /** @type {Record<string, Record<string, any>[]>} */
  const rows = {}
  for (const line of stdout.split('\n').filter((line) => line.startsWith('['))) {
    const [question, row] = JSON.parse(line)
    rows[question] ??= []
    rows[question].push(row)
  }
  return rows
}

module.exports = { startCluster, askSpark }
