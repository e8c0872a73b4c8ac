'use strict'

// Records a command in a process of its own, so that neither its output nor its end is the server's.

// stdout has what the command prints, stderr the folder of the run and then what cpu-prof says. The server
// ends stdin, or ends itself, to have the command ended.

const path = require('node:path')
const { newDirName } = require('@org/cpu-prof/own-packages').outputDir
const { record } = require('@org/cpu-prof/own-packages').record
const { recordRuns } = require('@org/cpu-prof/own-packages').run
const { endAs } = require('@org/cpu-prof/own-packages').child
const { endWith } = require('@org/cpu-prof/own-packages').output

/** @param {string} runs the folder of all runs @param {number} repeat @param {string[]} command */
async function main(runs, repeat, command) {
  const folder = path.join(runs, newDirName())
  process.stderr.write(`${folder}\n`)
  const stop = new AbortController()
  process.stdin.on('end', () => stop.abort()).resume()
  /** @type {import('@org/cpu-prof/own-packages').RunOptions} */
  const options = { merge: true, sourceMaps: true, stdio: ['ignore', 1, 1], stop: stop.signal }
  if (repeat === 1) {
    const ending = await record(command, { ...options, brief: true, finalDir: folder })
    if (ending !== undefined) endAs(ending)
  } else {
    const endings = await recordRuns([{ command, folder }], repeat, 0, { ...options, quiet: true })
    const failed = endings?.filter(({ code }) => code !== 0).at(-1)
    if (failed !== undefined) endAs(failed)
  }
  process.stdin.destroy()
}

process.on('uncaughtException', endWith)
main(process.argv[2], Number(process.argv[3]), process.argv.slice(4)).catch(endWith)
