'use strict'

// The kinds of things that cost time, where a lake has them, and how a user names one.

const { WrongUsage } = require('@org/cpu-prof/own-packages').wrongUsage

/**
 * @typedef {typeof import('../../commands/lake/questions.js').KINDS[number]} Kind
 *
 * @typedef {object} Item
 * @property {'functions' | 'groups'} table
 * @property {string[]} keys columns that tell items apart
 * @property {string} where a condition of its rows
 * @property {boolean} hasTotal whether a total time is known: the functions of a file call each other
 * @property {string[]} names what a user may write for an item, as SQL
 */

/** @type {Record<Kind, Item>} */
const ITEMS = {
  function: {
    table: 'functions',
    keys: ['package', 'file', 'function'],
    where: '1 = 1',
    hasTotal: true,
    names: ['function', "concat(file, ':', function)", "concat(package, '/', file, ':', function)"],
  },
  file: {
    table: 'functions',
    keys: ['package', 'file'],
    where: '1 = 1',
    hasTotal: false,
    names: ['file', "concat(package, '/', file)"],
  },
  package: {
    table: 'groups',
    keys: ['name'],
    where: "kind = 'package'",
    hasTotal: true,
    names: ['name'],
  },
  owner: {
    table: 'groups',
    keys: ['sort', 'name'],
    where: "kind = 'owner'",
    hasTotal: true,
    names: ['name', "concat(sort, ' ', name)"],
  },
  label: {
    table: 'groups',
    keys: ['sort', 'name'],
    where: "kind = 'label'",
    hasTotal: true,
    names: ["concat(sort, '=', name)"],
  },
}

/**
 * Returns what rows are of, as `--by` has it: a kind, and the key of a label.
 * @param {string} by @returns {{ kind: Kind, key?: string }}
 */
function parseBy(by) {
  const [kind, ...rest] = by.split(':')
  const key = rest.length === 0 ? undefined : rest.join(':')
  return { kind: /** @type {Kind} */ (kind), key }
}

/** Throws where a total time is asked for that a lake does not have. @param {Kind | undefined} kind @param {boolean} total */
function checkTotal(kind, total) {
  if (!total || kind === undefined || ITEMS[kind].hasTotal) return
  throw new WrongUsage('a file has no total time in a lake, because its functions call each other')
}

const KINDS = /** @type {Kind[]} */ (Object.keys(ITEMS))

/** @typedef {Record<string, any>} Keys an item's values of its columns */

/**
 * Returns the name of an item, and the place that tells it apart.
 * @param {Kind} kind @param {Keys} keys @returns {{ name: string, place: string }}
 */
function nameOf(kind, keys) {
  if (kind === 'function') return { name: keys.function, place: placeOf(keys) }
  if (kind === 'file') return { name: keys.file || '(native)', place: outsideOf(keys) }
  if (kind === 'owner') return { name: `${keys.sort} ${keys.name}`, place: '' }
  if (kind === 'label') return { name: `${keys.sort}=${keys.name}`, place: '' }
  return { name: keys.name, place: '' }
}

/** @param {Keys} keys */
function placeOf({ package: of, file }) {
  if (file === '') return of
  return isOwn(of) ? file : `${of}/${file}`
}

/** @param {Keys} keys */
const outsideOf = ({ package: of }) => (isOwn(of) ? '' : of)

/** Returns whether a package is none that others have. @param {string} name */
const isOwn = (name) => name.startsWith('(') || name === 'node:'

/** Returns how a user names one of several items. @param {Kind} kind @param {Keys} keys */
function fullName(kind, keys) {
  if (kind === 'function') return `${keys.package}/${keys.file}:${keys.function}`
  return kind === 'file' ? `${keys.package}/${keys.file}` : nameOf(kind, keys).name
}

module.exports = { ITEMS, KINDS, checkTotal, fullName, nameOf, parseBy }
