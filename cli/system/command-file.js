'use strict'

// The words of cmd.exe for a command file (`.cmd`, `.bat`) of Windows with arguments.

/** What no argument of a command file can hold: cmd.exe ends its command there. */
const END = /[\0\r\n]/

/**
 * Returns the arguments of cmd.exe, which must be passed on as they are. Throws if one cannot be.
 *
 * cmd.exe reads an argument twice: in its own line, and in the line of the command file that has `%*`. So
 * each argument is between quotes, where cmd.exe gives a meaning to two characters only. A quote is
 * doubled, which both cmd.exe and programs take for one. A `%` is followed by a variable whose text is
 * empty, so that no text between two of them is the name of a variable. Rust's library does the same.
 * @param {string} file its path @param {string[]} args
 */
function commandFileWords(file, args) {
  const ended = args.find((arg) => END.test(arg))
  if (ended !== undefined) {
    const reason = `cmd.exe ends the argument ${JSON.stringify(ended)} of a command file at the line break`
    throw new Error(`${reason}; run the program behind the file, or leave out the line break`)
  }
  const line = [file, ...args].map(quoted).join(' ')
  // With the extensions that the empty text needs, and without `!name!` for variables.
  return ['/e:ON', '/v:OFF', '/d', '/s', '/c', `"${line}"`]
}

/** @param {string} arg */
function quoted(arg) {
  const text = arg
    // Programs take a backslash for a part of what follows where that is a quote.
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/\\+$/, '$&$&')
    .replaceAll('%', '%%cd:~,%')
  return `"${text}"`
}

module.exports = { commandFileWords }
