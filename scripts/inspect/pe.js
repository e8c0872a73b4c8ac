'use strict'

// Reads what a Windows library needs from other libraries.

const { textAt } = require('./elf.js')

const MACHINES = /** @type {Record<number, string>} */ ({ 34404: 'x64', 43620: 'arm64' })
/** A table of needed libraries: its place among the tables, the size of an entry, and its field with the name. */
const IMPORTS = { index: 1, size: 20, name: 12 }
const DELAYED_IMPORTS = { index: 13, size: 32, name: 4 }
/** Bytes from the optional header to the list of tables, in a file of 64 bits. */
const TABLES = 112

/** Returns whether a file is of this format. @param {Buffer} bytes */
const isPe = (bytes) => bytes.toString('latin1', 0, 2) === 'MZ'

/** Reads a library's processor, and the libraries that it needs. @param {Buffer} bytes */
function readPe(bytes) {
  const head = bytes.readUInt32LE(0x3c) + 4
  const optional = head + 20
  const sections = optional + bytes.readUInt16LE(head + 16)
  const count = bytes.readUInt16LE(head + 2)
  /** Returns where an address of the loaded library is in the file. @param {number} address */
  const offsetOf = (address) => {
    for (let at = sections; at < sections + count * 40; at += 40) {
      const start = bytes.readUInt32LE(at + 12)
      if (address < start || address >= start + bytes.readUInt32LE(at + 16)) continue
      return bytes.readUInt32LE(at + 20) + address - start
    }
    throw new Error(`the address ${address} is in no section`)
  }
  const libraries = [IMPORTS, DELAYED_IMPORTS].flatMap(({ index, size, name }) => {
    const table = bytes.readUInt32LE(optional + TABLES + index * 8)
    const found = []
    for (let at = table && offsetOf(table); at > 0; at += size) {
      const address = bytes.readUInt32LE(at + name)
      if (address === 0) break
      found.push(textAt(bytes, offsetOf(address)))
    }
    return found
  })
  return { cpu: MACHINES[bytes.readUInt16LE(head)], libraries }
}

module.exports = { isPe, readPe }
