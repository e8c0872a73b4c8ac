'use strict'

// The table of native threads.

const { formatPlace } = require('../terminal/format.js')

/** @typedef {import('../../index.js').ReportNative} Native */

/** Part of the CPU time from which native threads are worth a table. */
const NOTABLE = 0.2

/**
 * Returns the table of native threads, if these did a notable part of the work.
 * @param {import('../../index.js').Report} report @param {string} cwd
 * @returns {import('./tables.js').CostTable[]}
 */
function nativeTables({ processes }, cwd) {
  const told = processes.filter(({ cpu, native }) => cpu !== undefined && native !== undefined)
  const sum = (/** @type {number[]} */ list) => list.reduce((sum, number) => sum + number, 0)
  const cpuMs = sum(told.map(({ cpu }) => (cpu?.javascriptMs ?? 0) + (cpu?.nativeMs ?? 0)))
  const rows = joined(told.flatMap(({ native = [] }) => native))
  if (sum(rows.map((row) => row.cpuMs)) < NOTABLE * cpuMs || rows.length === 0) return []
  const places = rows.map((row) => startedBy(row, cwd))
  const none = places.some((place) => place !== '') ? '–' : ''
  return [
    {
      title: 'native threads, by CPU time',
      names: ['native threads', 'started by'],
      heads: ['cpu', 'threads'],
      whole: { ms: cpuMs, name: 'CPU time' },
      rows: rows.map((row, index) => ({
        name: row.name,
        place: places[index] || none,
        ms: row.cpuMs,
        others: [String(row.threads)],
      })),
    },
  ]
}

/** Adds up the threads of one name in all processes, the most CPU time first. @param {Native[]} list */
function joined(list) {
  /** @type {Map<string, Native>} */
  const rows = new Map()
  for (const { name, threads, cpuMs, startedBy = [] } of list) {
    const row = rows.get(name) ?? { name, threads: 0, cpuMs: 0, startedBy: [] }
    const all = [...(row.startedBy ?? []), ...startedBy]
    const keys = all.map((starter) => JSON.stringify(starter))
    rows.set(name, {
      name,
      threads: row.threads + threads,
      cpuMs: row.cpuMs + cpuMs,
      startedBy: all.filter((_, index) => keys.indexOf(keys[index]) === index),
    })
  }
  return [...rows.values()].sort((a, b) => b.cpuMs - a.cpuMs)
}

/** Returns `crypto.pbkdf2 by hash (login.js:9)`; empty if it is not known. @param {Native} native @param {string} cwd */
function startedBy({ startedBy = [] }, cwd) {
  const [first, ...others] = startedBy
  if (first === undefined) return ''
  const { what, place } = first
  const caller = place === undefined ? '' : ` by ${place.name} (${formatPlace(place, cwd)})`
  return `${what}${caller}${others.length > 0 ? `, +${others.length}` : ''}`
}

module.exports = { nativeTables }
