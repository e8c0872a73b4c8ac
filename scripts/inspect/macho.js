'use strict'

// Reads what a macOS library needs from other libraries.

const { textAt } = require('./elf.js')

const MAGIC = 0xfeedfacf
const MACHINES = /** @type {Record<number, string>} */ ({ 16777223: 'x64', 16777228: 'arm64' })
/** Load commands. */
const SYMTAB = 0x2
const VERSION_MIN_MACOS = 0x24
const BUILD_VERSION = 0x32
const CODE_SIGNATURE = 0x1d
/** A library that is loaded, also weakly, re-exported, lazily or upward: the position in this order is its number. */
const DYLIBS = [0xc, 0x80000018, 0x8000001f, 0x20, 0x80000023]
/** Bits of a symbol's type: for a debugger, its kind, visible to others. */
const STAB = 0xe0
const KIND = 0x0e
const EXTERNAL = 0x01
/** Number of a library that stands for all that are loaded. */
const ANY_LIBRARY = 0xfe

/** Returns whether a file is of this format. @param {Buffer} bytes */
const isMachO = (bytes) => bytes.length > 32 && bytes.readUInt32LE(0) === MAGIC

/**
 * Reads a library's processor, the oldest macOS that it runs on, the libraries that it needs, the symbols
 * that these must have, and where its signature is. A symbol without a library may be in any that is loaded.
 * @param {Buffer} bytes
 */
function readMachO(bytes) {
  /** @type {string[]} */
  const libraries = []
  let symbols
  let system
  /** @type {{ offset: number, size: number } | undefined} */
  let signature
  let at = 32
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    const command = bytes.readUInt32LE(at)
    if (DYLIBS.includes(command)) libraries.push(textAt(bytes, at + bytes.readUInt32LE(at + 8)))
    if (command === SYMTAB) symbols = at
    if (command === BUILD_VERSION) system = versionOf(bytes.readUInt32LE(at + 12))
    if (command === VERSION_MIN_MACOS) system = versionOf(bytes.readUInt32LE(at + 8))
    if (command === CODE_SIGNATURE) {
      signature = { offset: bytes.readUInt32LE(at + 8), size: bytes.readUInt32LE(at + 12) }
    }
    at += bytes.readUInt32LE(at + 4)
  }
  const imports = symbols === undefined ? [] : importsOf(bytes, symbols, libraries)
  return { cpu: MACHINES[bytes.readUInt32LE(4)], system, libraries, imports, signature }
}

/** @param {Buffer} bytes @param {number} command @param {string[]} libraries */
function importsOf(bytes, command, libraries) {
  const [table, count, texts] = [8, 12, 16].map((field) => bytes.readUInt32LE(command + field))
  const imports = []
  for (let at = table; at < table + count * 16; at += 16) {
    const type = bytes[at + 4]
    if ((type & STAB) !== 0 || (type & KIND) !== 0 || (type & EXTERNAL) === 0) continue
    const library = bytes.readUInt16LE(at + 6) >> 8
    imports.push({
      name: textAt(bytes, texts + bytes.readUInt32LE(at)),
      library: library === ANY_LIBRARY ? undefined : libraries[library - 1],
    })
  }
  return imports
}

/** Returns a version as text. @param {number} number */
const versionOf = (number) => `${number >> 16}.${(number >> 8) & 0xff}`

module.exports = { isMachO, readMachO }
