'use strict'

// What a stream's reader can see.

const NARROWEST = 50
const WIDEST = 160

/**
 * @param {NodeJS.WriteStream} stream
 * @param {NodeJS.ProcessEnv} [env]
 */
function screen(stream, env = process.env) {
  const columns = stream.isTTY ? stream.columns : Number(env.COLUMNS)
  return {
    columns: Math.max(NARROWEST, Math.min(WIDEST, columns || 100)),
    /** Undefined if there is no end to it. */
    rows: stream.isTTY ? stream.rows || 24 : undefined,
    // Also asks NO_COLOR and TERM.
    colours: Boolean(stream.isTTY && stream.hasColors?.()),
  }
}

module.exports = { screen }
