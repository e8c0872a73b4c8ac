'use strict'

const index = require('../../index.js')
const { formatBytes, formatCount } = require('../terminal/format.js')
const { progress } = require('../terminal/progress.js')
const { say, print, messageOf, sayTroubles } = require('../terminal/output.js')
const { tidily } = require('../terminal/cleanup.js')

/**
 * @param {string[]} inputs
 * @param {{ output: string, from?: number, to?: number, split?: boolean, json?: boolean, quiet?: boolean }} options
 */
async function merge(inputs, { output, from, to, split, json, quiet }) {
  const bar = progress('merging')
  let result
  try {
    const onProgress = quiet ? undefined : bar.update
    const merging = () => index.merge(inputs, output, { from, to, split, onProgress })
    result = await tidily(merging)
  } catch (error) {
    bar.end()
    say(messageOf(error))
    process.exitCode = 1
    return
  }
  bar.end()
  sayTroubles(result)
  const { files, bytes, processes, threads } = result
  if (!quiet) {
    const what = `${formatCount(processes, 'process', 'processes')}, ${formatCount(threads, 'thread')}`
    const size =
      files.length === 1
        ? formatBytes(bytes)
        : `${files.length} files, ${formatBytes(bytes)} at most`
    say(`${what}, ${size}`)
  }
  print(`${json ? JSON.stringify(result, null, 2) : files.join('\n')}\n`)
}

module.exports = { merge }
