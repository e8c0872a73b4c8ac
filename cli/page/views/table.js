'use strict'

// Draws the tables: functions, files, packages, owners and lines of the selection.

const { lineCosts } = require('../data/costs.js')
const { byId, element } = require('./elements.js')
const { nameOf, placeOf, packageOf } = require('../data/recording.js')
const { formatShare, formatTime } = require('../../terminal/units.js')
const { formatDifference, joinRows } = require('../data/sides.js')
const { tablesOf } = require('../state.js')

/** @typedef {import('../data/recording.js').Recording} Recording */
/** @typedef {import('../data/costs.js').Costs} Costs */
/** @typedef {import('../state.js').State} State */
/** @typedef {{ state: State, costs: Costs, sides?: import('../data/sides.js').Sides, isWanted: (item: number) => boolean }} Shown */
/**
 * @typedef {object} Row times in microseconds; differences in a comparison
 * @property {string} name
 * @property {string} place
 * @property {number} self
 * @property {number} [total]
 * @property {number} [blocked]
 * @property {number} [item] the function to select
 * @property {Record<string, string>} [sides] times of both sides, by the name of the time
 */

/** Rows that are drawn at first, and rows that a click adds. */
const ROWS = 100

/** Functions before this one are states. */
const FIRST_FUNCTION = 3

/**
 * @param {Recording} recording @param {(change: Partial<State>) => void} change
 */
function tableView(recording, change) {
  const [tabs, table, more] = [byId('tabs'), byId('table'), byId('more')]
  let limit = ROWS
  /** @type {Shown | undefined} */
  let shown
  const tables = tablesOf(recording)
  const buttons = tables.map((name) => {
    const button = element('button', { type: 'button', role: 'tab', textContent: name })
    button.addEventListener('click', () => change({ table: name }))
    return button
  })
  tabs.append(...buttons)
  more.addEventListener('click', () => {
    limit += 5 * ROWS
    draw()
  })

  function draw() {
    if (!shown) return
    const { state, costs, sides } = shown
    for (const [index, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(tables[index] === state.table))
    }
    const rows = sides
      ? joinRows(rowsOf(state, sides.base), rowsOf(state, sides.head), ['self', 'total', 'blocked'])
      : rowsOf(state, costs)
    const hasTotal = state.table !== 'lines'
    const hasBlocked = hasTotal && rows.some(({ blocked }) => Number(blocked) !== 0)
    /** @type {State['sort'][]} */
    const columns = ['self', ...(hasTotal ? /** @type {const} */ (['total']) : [])]
    if (hasBlocked) columns.push('blocked')
    const sort = columns.includes(state.sort) ? state.sort : 'self'
    const size = (/** @type {number | undefined} */ us) => Math.abs(Number(us))
    rows.sort((a, b) => size(b[sort]) - size(a[sort]) || size(b.self) - size(a.self))
    const heads = columns.map((name) => headOf(name, name === sort))
    const shareHead = element('th', { scope: 'col', textContent: sides ? 'base → head' : 'share' })
    const nameHead = element('th', { scope: 'col', className: 'name', textContent: state.table })
    const whole = sort === 'blocked' ? costs.states.blocked : costs.workUs
    const body = rows.slice(0, limit).map((row) => rowOf(row, columns, sort, whole))
    table.replaceChildren(
      element('thead', {}, element('tr', {}, ...heads, shareHead, nameHead)),
      element('tbody', {}, ...body),
    )
    more.hidden = rows.length <= limit
    more.textContent = `${rows.length - limit} more`
  }

  /** @param {State['sort']} name @param {boolean} isSorted */
  function headOf(name, isSorted) {
    const button = element('button', { type: 'button', textContent: name })
    button.addEventListener('click', () => change({ sort: name }))
    const sort = isSorted ? 'descending' : 'none'
    return element('th', { scope: 'col', 'aria-sort': sort }, button)
  }

  /** @param {Row} row @param {State['sort'][]} columns @param {State['sort']} sort @param {number} whole */
  function rowOf(row, columns, sort, whole) {
    const numbers = columns.map((name) =>
      element('td', {
        textContent: row.sides
          ? formatDifference(Number(row[name]))
          : formatTime(Number(row[name]) / 1000),
      }),
    )
    const bar = element('span', { className: 'bar' })
    bar.style.width = `${Math.min(100, (100 * Math.abs(Number(row[sort]))) / Math.max(whole, 1))}%`
    const shareText = row.sides?.[sort] ?? formatShare(Number(row[sort]), whole)
    const share = element('td', { className: 'share' }, ...(row.sides ? [] : [bar]), shareText)
    const place = element('span', { className: 'place', textContent: row.place })
    const { item } = row
    if (item === undefined) {
      const name = element('td', { className: 'name', title: row.name }, row.name, ' ', place)
      return element('tr', {}, ...numbers, share, name)
    }
    const button = element('button', { type: 'button', textContent: row.name })
    button.addEventListener('click', () => change({ function: item }))
    const name = element('td', { className: 'name', title: row.place }, button, ' ', place)
    const made = element('tr', {}, ...numbers, share, name)
    made.classList.toggle('selected', item === shown?.state.function)
    return made
  }

  /** @param {State} state @param {Costs} costs @returns {Row[]} */
  function rowsOf(state, costs) {
    const { functionCosts, fileCosts, packageCosts, ownerCosts } = costs
    const { names, filePaths, packages, ownerKinds, ownerNames } = recording
    const query = state.query.toLowerCase()
    const has = (/** @type {Row} */ { name, place }) =>
      `${name} ${place}`.toLowerCase().includes(query)
    /**
     * @param {import('../data/costs.js').Items} items @param {ArrayLike<string>} texts
     * @param {(item: number) => Partial<Row>} [describe]
     */
    const list = ({ self, total, blocked }, texts, describe = () => ({})) => {
      /** @type {Row[]} */
      const rows = []
      for (let item = 0; item < texts.length; item++) {
        if (total[item] + blocked[item] === 0) continue
        const times = { self: self[item], total: total[item], blocked: blocked[item] }
        rows.push({ name: texts[item], place: '', ...times, ...describe(item) })
      }
      return rows
    }
    if (state.table === 'functions') {
      return list(functionCosts, names, (item) => ({
        ...{ name: nameOf(recording, item), place: placeOf(recording, item), item },
      }))
        .filter(({ item }) => Number(item) >= FIRST_FUNCTION)
        .filter(({ item }) => shown?.isWanted(Number(item)))
    }
    if (state.table === 'files') {
      return list(
        fileCosts,
        filePaths.map((path) => path || '(native)'),
      ).filter(has)
    }
    if (state.table === 'packages') return list(packageCosts, packages).filter(has)
    if (state.table === 'owners') {
      const kindOf = (/** @type {number} */ owner) =>
        ownerKinds[owner] === ownerNames[owner].slice(1, -1) ? '' : ownerKinds[owner]
      return list(ownerCosts, ownerNames, (owner) => ({ place: kindOf(owner) })).filter(has)
    }
    return lineCosts(recording, costs)
      .filter(({ item }) => shown?.isWanted(item))
      .map(({ item, line, us }) => ({
        ...{ name: nameOf(recording, item), place: lineOf(item, line), self: us, item },
      }))
  }

  /** @param {number} item @param {number} line */
  function lineOf(item, line) {
    const path = recording.filePaths[recording.files[item]]
    return line > 0 ? `${path}:${line}` : `${path} (unknown line)`
  }

  return {
    /** @param {Shown} next */
    draw(next) {
      if (next.state.table !== shown?.state.table) limit = ROWS
      shown = next
      draw()
    },
  }
}

/**
 * Returns a test for functions with a text in their names, places or packages.
 * @param {Recording} recording @param {string} query
 */
function matcher(recording, query) {
  const text = query.toLowerCase()
  /** @type {Map<number, boolean>} */
  const known = new Map()
  return (/** @type {number} */ item) => {
    if (text === '') return true
    let isWanted = known.get(item)
    if (isWanted === undefined) {
      const all = `${nameOf(recording, item)} ${placeOf(recording, item)} ${packageOf(recording, item)}`
      isWanted = all.toLowerCase().includes(text)
      known.set(item, isWanted)
    }
    return isWanted
  }
}

module.exports = { tableView, matcher }
