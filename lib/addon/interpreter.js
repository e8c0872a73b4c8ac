'use strict'

// Reads which loader a Linux executable asks for, and with it which libc.

const fs = require('node:fs')

/** The magic number of an ELF file of 64 bits with little-endian numbers. */
const ELF_64 = '\x7fELF\x02\x01'
/** Bytes of an ELF header, and of an entry of its table of segments. */
const HEADER = 64
const ENTRY = 56
/** Type of the segment with the path of the loader. */
const PT_INTERP = 3
/** More segments, or a longer path, no executable has. */
const MAX_ENTRIES = 64
const MAX_PATH = 4096

/**
 * Returns whether an executable runs on musl. A file without a loader is the loader itself, as in
 * `/lib/ld-musl-x86_64.so.1 node`.
 * @param {string} file
 */
function isMusl(file) {
  const loader = interpreterOf(file) ?? file
  return loader.includes('musl') || loader.endsWith('/libc.so')
}

/** Returns the path of the loader; undefined if the file names none, or cannot be read. @param {string} file */
function interpreterOf(file) {
  let fd
  try {
    fd = fs.openSync(file, 'r')
    const header = bytesAt(fd, 0, HEADER)
    if (header.toString('latin1', 0, ELF_64.length) !== ELF_64) return undefined
    const count = Math.min(header.readUInt16LE(56), MAX_ENTRIES)
    const table = bytesAt(fd, Number(header.readBigUInt64LE(32)), count * ENTRY)
    for (let at = 0; at + ENTRY <= table.length; at += ENTRY) {
      if (table.readUInt32LE(at) !== PT_INTERP) continue
      const size = Math.min(Number(table.readBigUInt64LE(at + 32)), MAX_PATH)
      const path = bytesAt(fd, Number(table.readBigUInt64LE(at + 8)), size)
      return path.toString('latin1').split('\0', 1)[0]
    }
    return undefined
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

/** Reads a part of a file, less at its end. @param {number} fd @param {number} position @param {number} size */
function bytesAt(fd, position, size) {
  const bytes = Buffer.alloc(size)
  return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, position))
}

module.exports = { isMusl, interpreterOf }
