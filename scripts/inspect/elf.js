'use strict'

// Reads what a Linux library needs from other libraries.

/** Types of sections. */
const DYNAMIC = 6
const DYNSYM = 11
const VERSIONS_NEEDED = 0x6ffffffe
const VERSION_OF_SYMBOL = 0x6fffffff
/** Tag of a needed library in the dynamic section. */
const NEEDED = 1n
/** Binding of a symbol that may be missing. */
const WEAK = 2
const MACHINES = /** @type {Record<number, string>} */ ({ 62: 'x64', 183: 'arm64' })

/** Returns whether a file is of this format. @param {Buffer} bytes */
const isElf = (bytes) => bytes.toString('latin1', 0, 6) === '\x7fELF\x02\x01'

/**
 * Reads a library's processor, the libraries that it needs, and the symbols that these must have. The
 * version of a symbol is undefined if any will do.
 * @param {Buffer} bytes
 */
function readElf(bytes) {
  const sections = sectionsOf(bytes)
  const find = (/** @type {number} */ wanted) => sections.find(({ type }) => type === wanted)
  const dynamic = find(DYNAMIC)
  const symbols = find(DYNSYM)
  if (dynamic === undefined || symbols === undefined) throw new Error('it is not a library')
  const names = sections[symbols.link]
  const text = (/** @type {number} */ at) => textAt(bytes, names.offset + at)

  const libraries = []
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    if (bytes.readBigUInt64LE(at) !== NEEDED) continue
    libraries.push(text(Number(bytes.readBigUInt64LE(at + 8))))
  }
  const versions = versionsOf(bytes, find(VERSIONS_NEEDED), text)
  const indexes = find(VERSION_OF_SYMBOL)
  const imports = []
  // The first symbol is empty.
  for (let i = 1; i < symbols.size / 24; i++) {
    const at = symbols.offset + i * 24
    const isUndefined = bytes.readUInt16LE(at + 6) === 0
    if (!isUndefined) continue
    const index = indexes && bytes.readUInt16LE(indexes.offset + i * 2) & 0x7fff
    imports.push({
      name: text(bytes.readUInt32LE(at)),
      isWeak: bytes[at + 4] >> 4 === WEAK,
      version: index === undefined ? undefined : versions.get(index),
    })
  }
  return { cpu: MACHINES[bytes.readUInt16LE(18)], libraries, imports }
}

/** @typedef {ReturnType<typeof sectionsOf>[number]} Section */

/** @param {Buffer} bytes */
function sectionsOf(bytes) {
  const table = Number(bytes.readBigUInt64LE(40))
  return Array.from({ length: bytes.readUInt16LE(60) }, (_, i) => {
    const at = table + i * 64
    return {
      type: bytes.readUInt32LE(at + 4),
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
      link: bytes.readUInt32LE(at + 40),
      count: bytes.readUInt32LE(at + 44),
    }
  })
}

/**
 * Returns the names of the versions that are needed, by the indexes that symbols have.
 * @param {Buffer} bytes @param {Section | undefined} section @param {(at: number) => string} text
 */
function versionsOf(bytes, section, text) {
  /** @type {Map<number, string>} */
  const versions = new Map()
  let library = section?.offset ?? 0
  for (let left = section?.count ?? 0; left > 0; left--) {
    let at = library + bytes.readUInt32LE(library + 8)
    for (let more = bytes.readUInt16LE(library + 2); more > 0; more--) {
      versions.set(bytes.readUInt16LE(at + 6), text(bytes.readUInt32LE(at + 8)))
      at += bytes.readUInt32LE(at + 12)
    }
    library += bytes.readUInt32LE(library + 12)
  }
  return versions
}

/** Returns the text up to the next zero. @param {Buffer} bytes @param {number} at */
function textAt(bytes, at) {
  return bytes.toString('latin1', at, bytes.indexOf(0, at))
}

module.exports = { isElf, readElf, textAt }
