'use strict'

// Checks the signature of a macOS library against the library's own bytes. Linkers sign for this machine's
// use only, without a certificate ("ad hoc"). The kernel of Apple silicon ends a program that loads a
// library whose signature is missing or does not fit.

const { createHash } = require('node:crypto')

/** Numbers of a signature, which is written with the high byte first. */
const SUPER_BLOB = 0xfade0cc0
const CODE_DIRECTORY = 0xfade0c02
const SHA_256 = 2

/**
 * Returns what is wrong with a signature; undefined if every page of the library fits.
 * @param {Buffer} bytes of the library @param {{ offset: number, size: number } | undefined} place of the signature
 */
function signatureProblem(bytes, place) {
  if (place === undefined) return 'it has no signature'
  const signature = bytes.subarray(place.offset, place.offset + place.size)
  if (signature.length < 12 || signature.readUInt32BE(0) !== SUPER_BLOB) {
    return 'its signature cannot be read'
  }
  const directory = directoryOf(signature)
  if (directory === undefined) return 'its signature has no hashes of SHA-256'
  const [hashes, count, limit] = [16, 28, 32].map((field) => directory.readUInt32BE(field))
  const [hashSize, pageSize] = [directory[36], 2 ** directory[39]]
  if (limit !== place.offset || count !== Math.ceil(limit / pageSize)) {
    return 'its signature is that of a file of another size'
  }
  for (let page = 0; page < count; page++) {
    const [from, at] = [page * pageSize, hashes + page * hashSize]
    const hash = createHash('sha256').update(bytes.subarray(from, Math.min(from + pageSize, limit)))
    if (!hash.digest().equals(directory.subarray(at, at + hashSize))) {
      return `its signature does not fit its bytes from ${from} on: it was changed after it was signed`
    }
  }
  return undefined
}

/** Returns the part of a signature that has the hashes of pages. @param {Buffer} signature */
function directoryOf(signature) {
  const count = signature.readUInt32BE(8)
  for (let at = 12; at < 12 + count * 8; at += 8) {
    const blob = signature.subarray(signature.readUInt32BE(at + 4))
    if (blob.readUInt32BE(0) === CODE_DIRECTORY && blob[37] === SHA_256) return blob
  }
  return undefined
}

module.exports = { signatureProblem }
