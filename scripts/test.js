'use strict'

// `npm test`: the build, the linters, the Rust tests and the spec files, on this Node.
// `npm test -- merge`: the build, then the Rust tests with `merge` in their paths and the spec files
// whose names begin with it.

const { spawn } = require('node:child_process')
const path = require('node:path')
const { specFiles } = require('./specs.js')

const SPECS = path.join(__dirname, 'specs.js')
const root = path.join(__dirname, '..')
const areas = process.argv.slice(2)

/**
 * Runs a command to its end and prints its duration. Rejects if the command fails.
 * @param {string} title @param {string[]} command
 * @param {{ isHeldBack?: boolean }} [options] `isHeldBack`: the output is shown at the end, in one
 *   piece, since another step is running
 * @returns {Promise<string>} what it wrote to stdout
 */
function step(title, [program, ...args], { isHeldBack = false } = {}) {
  const start = Date.now()
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let [all, stdout] = ['', '']
  const show = (/** @type {string} */ text) => {
    if (isHeldBack) all += text
    else process.stdout.write(text)
  }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    show(text)
  })
  child.stderr.setEncoding('utf8').on('data', show)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      const seconds = ((Date.now() - start) / 1000).toFixed(1)
      console.log(`${all}== ${title}: ${seconds} s`)
      if (code === 0) resolve(stdout)
      else reject(new Error(`${title} failed (${code ?? signal})`))
    })
  })
}

const build = () => step('build', ['npm', 'run', '--silent', 'build'], { isHeldBack: true })

/** Runs the spec files last: their summary ends the output. @param {string[]} names */
function specs(names) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SPECS, ...names], { cwd: root, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(undefined)
      else reject(new Error(`specs failed (${code ?? signal})`))
    })
  })
}

async function everything() {
  // The release build uses one core most of the time.
  await all([
    build(),
    (async () => {
      await step('lint', ['npm', 'run', '--silent', 'lint'])
      await step('cargo test', ['cargo', 'test', '--quiet'])
    })(),
  ])
  await specs([])
}

async function someAreas() {
  const [output] = await all([
    step('cargo test', ['cargo', 'test', '--quiet', '--', ...areas]),
    build(),
  ])
  const ran = [...output.matchAll(/^running (\d+) tests?$/gm)].some(([, count]) => count !== '0')
  if (specFiles(areas).length > 0) return specs(areas)
  if (!ran) throw new Error(`no test is named after ${areas.join(' or ')}`)
}

/** Waits for all, then fails if one did. @param {Promise<any>[]} steps */
async function all(steps) {
  await Promise.allSettled(steps)
  return Promise.all(steps)
}

const running = areas.length === 0 ? everything() : someAreas()
running.catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
