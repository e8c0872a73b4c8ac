'use strict'

// Reads the size and the abilities of the terminal behind a stream.

const MIN_COLUMNS = 50
const MAX_COLUMNS = 160

/**
 * @param {NodeJS.WriteStream} stream
 * @param {NodeJS.ProcessEnv} [env]
 */
function screen(stream, env = process.env) {
  const { FORCE_COLOR } = env
  const columns = stream.isTTY ? stream.columns : Number(env.COLUMNS)
  return {
    columns: Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns || 100)),
    /** Undefined if the stream is not a terminal. */
    rows: stream.isTTY ? stream.rows || 24 : undefined,
    // hasColors() reads NO_COLOR and TERM.
    colours:
      FORCE_COLOR === undefined
        ? Boolean(stream.isTTY && stream.hasColors?.())
        : !['0', 'false'].includes(FORCE_COLOR),
  }
}

module.exports = { screen }
