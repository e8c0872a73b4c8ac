'use strict'

// Status goes to stderr: stdout is for results, and the command's own.

/** @param {string} text one line */
function say(text) {
  // A file's name may hold anything; it must not make two lines of it, nor colour the terminal.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  write(`cpu-prof: ${text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ')}\n`)
}

/** @param {string} text */
function write(text) {
  // Nobody may be there to read it, which comes as an event or as an exception, by what stderr is.
  try {
    const { stderr } = process
    if (stderr.listenerCount('error') === 0) stderr.on('error', () => {})
    stderr.write(text)
  } catch {}
}

/** Writes a result. @param {string} text */
function print(text) {
  try {
    const { stdout } = process
    if (stdout.listenerCount('error') === 0) stdout.on('error', lost)
    stdout.write(text)
  } catch (error) {
    lost(/** @type {NodeJS.ErrnoException} */ (error))
  }
}

/** @param {NodeJS.ErrnoException} error */
function lost(error) {
  // The reader has seen enough (`| head`).
  if (error.code === 'EPIPE') return
  say(`the result cannot be printed: ${messageOf(error)}`)
  process.exitCode = 1
}

/** What an error says, without its stack. @param {unknown} error */
function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/^cpu-prof: /, '')
}

/** What merge() and report() could not use as it is. @param {{ repaired: string[], failed: { file: string, reason: string }[], notes: string[] }} result */
function sayTroubles({ repaired, failed, notes }) {
  for (const { file, reason } of failed) say(`left out ${file}: ${reason}`)
  for (const file of repaired) say(`repaired ${file}: it was cut off`)
  for (const note of notes) say(note)
}

module.exports = { say, write, print, messageOf, sayTroubles }
