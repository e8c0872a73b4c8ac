'use strict'

// Makes values of DuckDB plain: numbers where they are exact, and times as text.

/**
 * Returns a value of DuckDB as JavaScript has it. A whole number beyond the exact ones stays a BigInt; a
 * time, a date or a decimal number is its text.
 * @param {any} value @returns {any}
 */
function plainValue(value) {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  if (value === null || typeof value !== 'object') return value ?? null
  if (Array.isArray(value.items)) return value.items.map(plainValue)
  if (Array.isArray(value.entries)) {
    return value.entries.map((/** @type {{ key: any, value: any }} */ { key, value }) => ({
      key: plainValue(key),
      value: plainValue(value),
    }))
  }
  if (isRecord(value.entries)) {
    const entries = Object.entries(value.entries)
    return Object.fromEntries(entries.map(([name, each]) => [name, plainValue(each)]))
  }
  return String(value)
}

/** @param {unknown} value */
const isRecord = (value) => typeof value === 'object' && value !== null

module.exports = { plainValue }
