'use strict'

// pprof, field by field, as encoders that differ write it: the order of the fields, and of lists of numbers the
// packed or the plain form.

/** @param {number | bigint} number */
function varint(number) {
  const bytes = []
  let rest = BigInt(number)
  do {
    const byte = Number(rest & 127n)
    rest >>= 7n
    bytes.push(rest > 0n ? byte | 128 : byte)
  } while (rest > 0n)
  return Buffer.from(bytes)
}

/** A field with a number. @param {number} tag @param {number | bigint} number */
const number = (tag, number) => Buffer.concat([varint(tag * 8), varint(number)])

/** A field with bytes. @param {number} tag @param {Buffer | string | Buffer[]} contents */
function bytes(tag, contents) {
  const whole = Array.isArray(contents) ? Buffer.concat(contents) : Buffer.from(contents)
  return Buffer.concat([varint(tag * 8 + 2), varint(whole.length), whole])
}

/** The order of the fields of encoders, by their numbers; `x` is a field that a later version adds. */
const ORDERS = {
  google: [1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14],
  // runtime/pprof: profiles of CPU time, and the others.
  go: [9, 1, 10, 11, 12, 2, 3, 4, 5, 6],
  goOthers: [11, 12, 1, 2, 3, 4, 5, 6, 9, 10],
  libdatadog: [2, 1, 3, 4, 5, 6, 9, 10, 11, 12],
  textsFirst: [6, 5, 4, 3, 2, 1, 12, 11, 10, 9],
  later: ['x', 1, 'x', 2, 4, 5, 6, 'x'],
}

/**
 * @typedef {object} Encoded
 * @property {{ stack: string[], values: number[] }[]} samples functions, the outermost first: `name` or `name@module`
 * @property {keyof typeof ORDERS} [order]
 * @property {string[]} [types] name and unit: `cpu/nanoseconds`
 * @property {string} [file] of all functions; none for symbols alone
 * @property {string} [period] number and unit: `10 milliseconds`
 * @property {number} [timeMs]
 * @property {number} [durationMs]
 * @property {boolean} [isPacked] whether lists of numbers are packed
 * @property {boolean} [hasNames] whether locations have functions, and not only addresses
 */

/** Returns the bytes of a file. @param {Encoded} encoded */
function encoded({ samples, order = 'google', file = '', isPacked = true, ...options }) {
  const { types = ['samples/count', 'cpu/nanoseconds'], period = '10 milliseconds' } = options
  const { timeMs = 0, durationMs = 0, hasNames = true } = options
  const texts = ['']
  const text = (/** @type {string} */ value) => {
    if (!texts.includes(value)) texts.push(value)
    return texts.indexOf(value)
  }
  /** @param {number} tag @param {string} type */
  const valueType = (tag, type) => {
    const [name, unit] = type.split('/')
    return bytes(tag, [number(1, text(name)), number(2, text(unit))])
  }
  /** @param {number} tag @param {number[]} list */
  const numbers = (tag, list) =>
    isPacked ? bytes(tag, list.map(varint)) : Buffer.concat(list.map((each) => number(tag, each)))
  const functions = [...new Set(samples.flatMap(({ stack }) => stack))]
  const parts = functions.map((each) => each.split('@'))
  const modules = [...new Set(parts.map(([, module = '']) => module))]
  const [periodNumber, periodUnit] = period.split(' ')
  /** @type {Record<string | number, Buffer[]>} */
  const fields = {
    1: types.map((type) => valueType(1, type)),
    2: samples.map(({ stack, values }) =>
      bytes(2, [
        numbers(1, stack.map((each) => functions.indexOf(each) + 1).reverse()),
        numbers(2, values),
      ]),
    ),
    3: modules.map((module, index) => bytes(3, [number(1, index + 1), number(5, text(module))])),
    4: parts.map(([, module = ''], index) => {
      const place = [number(1, index + 1), number(2, modules.indexOf(module) + 1)]
      const line = bytes(4, [number(1, index + 1), number(2, 10 + index)])
      return bytes(4, [...place, number(3, 0x1000 + 16 * index), ...(hasNames ? [line] : [])])
    }),
    5: (hasNames ? parts : []).map(([name], index) => {
      const place = file === '' ? [] : [number(4, text(file)), number(5, 5 + index)]
      return bytes(5, [number(1, index + 1), number(2, text(name)), ...place])
    }),
    9: [number(9, BigInt(timeMs) * 1_000_000n)],
    10: [number(10, BigInt(durationMs) * 1_000_000n)],
    11: [valueType(11, `cpu/${periodUnit}`)],
    12: [number(12, BigInt(periodNumber))],
    13: [number(13, text('made by hand'))],
    14: [number(14, text(types.at(-1)?.split('/')[0] ?? ''))],
    x: [bytes(77, 'of a later version')],
  }
  fields[6] = texts.map((each) => bytes(6, each))
  return Buffer.concat(ORDERS[order].flatMap((tag) => fields[tag]))
}

module.exports = { ORDERS, bytes, number, encoded }
