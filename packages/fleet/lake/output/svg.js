'use strict'

// Draws charts of values over runs as SVG: points of runs, medians, and bands of the middle half.

const { escapeHtml } = require('./page.js')

/** @typedef {import('./page.js').Html} Html */
/**
 * @typedef {object} Column
 * @property {string} label
 * @property {string} title shown for the median
 * @property {number} p25
 * @property {number} median
 * @property {number} p75
 * @property {{ value: number, title: string }[]} runs
 * @property {boolean} [isOther] whether it has the second colour
 */

const [WIDTH, HEIGHT] = [1000, 320]
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 10, 28]
const LINES = 4
/** Points of runs of all columns together: of more, every so-many-th is drawn. */
const MOST_RUNS = 5000
/** Labels of columns below the chart. */
const MOST_LABELS = 10
/** Steps of the places of points beside the middle of their column. */
const SPREAD = 7

/**
 * Draws columns from the left to the right.
 * @param {Column[]} columns @param {(value: number) => string} format
 * @param {{ isLine: boolean, height?: number }} view whether the columns follow each other in time
 * @returns {Html}
 */
function drawColumns(columns, format, { isLine, height = HEIGHT }) {
  const values = columns.flatMap(({ p75, runs }) => [p75, ...runs.map(({ value }) => value)])
  const most = Math.max(0, ...chunked(values)) || 1
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, columns.length)
  const x = (/** @type {number} */ at) => LEFT + (at + 0.5) * step
  const y = (/** @type {number} */ value) => TOP + (height - TOP - BOTTOM) * (1 - value / most)
  const parts = [
    ...grid(most, y, format),
    ...bands(columns, x, y, step, isLine),
    ...points(columns, x, y, step),
    ...medians(columns, x, y, isLine),
    ...labels(columns, x, height),
  ]
  return {
    html: `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">\n${parts.join('\n')}\n</svg>`,
  }
}

/** Returns the largest values of parts, because a call takes only so many. @param {number[]} values */
function chunked(values) {
  const largest = []
  for (let at = 0; at < values.length; at += 1000) {
    largest.push(Math.max(...values.slice(at, at + 1000)))
  }
  return largest
}

/** @param {number} value */
const short = (value) => value.toFixed(1)

/** @param {number} most @param {(value: number) => number} y @param {(value: number) => string} format */
function grid(most, y, format) {
  return Array.from({ length: LINES + 1 }, (_, at) => {
    const value = (most * at) / LINES
    const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${short(y(value))}" y2="${short(y(value))}"/>`
    const text = `<text x="${LEFT - 6}" y="${short(y(value) + 4)}" text-anchor="end">${escapeHtml(format(value))}</text>`
    return `${line}${text}`
  })
}

/**
 * @param {Column[]} columns @param {(at: number) => number} x @param {(value: number) => number} y
 * @param {number} step @param {boolean} isLine
 */
function bands(columns, x, y, step, isLine) {
  if (!isLine || columns.length < 2) {
    return columns.map(({ p25, p75 }, at) => {
      const width = Math.min(step * 0.7, 120)
      return `<rect class="band" x="${short(x(at) - width / 2)}" y="${short(y(p75))}" width="${short(width)}" height="${short(Math.max(1, y(p25) - y(p75)))}"/>`
    })
  }
  const above = columns.map(({ p75 }, at) => `${short(x(at))},${short(y(p75))}`)
  const below = columns.map(({ p25 }, at) => `${short(x(at))},${short(y(p25))}`).reverse()
  return [`<polygon class="band" points="${[...above, ...below].join(' ')}"/>`]
}

/** @param {Column[]} columns @param {(at: number) => number} x @param {(value: number) => number} y @param {number} step */
function points(columns, x, y, step) {
  const count = columns.reduce((sum, { runs }) => sum + runs.length, 0)
  const each = Math.ceil(count / MOST_RUNS)
  const room = Math.min(step * 0.6, 100)
  return columns.flatMap(({ runs, isOther }, at) =>
    runs
      .filter((_, number) => number % each === 0)
      .map(({ value, title }, number) => {
        // Points of equal values stand beside each other.
        const aside = (((number * 3) % SPREAD) / (SPREAD - 1) - 0.5) * room
        const kind = isOther ? 'run other' : 'run'
        return `<circle class="${kind}" cx="${short(x(at) + aside)}" cy="${short(y(value))}" r="2"><title>${escapeHtml(title)}</title></circle>`
      }),
  )
}

/** @param {Column[]} columns @param {(at: number) => number} x @param {(value: number) => number} y @param {boolean} isLine */
function medians(columns, x, y, isLine) {
  const line = columns.map(({ median }, at) => `${short(x(at))},${short(y(median))}`).join(' ')
  const dots = columns.map(({ median, title, isOther }, at) => {
    const kind = isOther ? 'dot other' : 'dot'
    return `<circle class="${kind}" cx="${short(x(at))}" cy="${short(y(median))}" r="4"><title>${escapeHtml(title)}</title></circle>`
  })
  return isLine ? [`<polyline class="median" points="${line}"/>`, ...dots] : dots
}

/** @param {Column[]} columns @param {(at: number) => number} x @param {number} height */
function labels(columns, x, height) {
  const each = Math.ceil(columns.length / MOST_LABELS)
  return columns.flatMap(({ label }, at) =>
    at % each === 0
      ? [
          `<text x="${short(x(at))}" y="${height - 8}" text-anchor="middle">${escapeHtml(label)}</text>`,
        ]
      : [],
  )
}

module.exports = { drawColumns }
