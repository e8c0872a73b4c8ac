'use strict'

// Makes the pages of answers: one file without a script, which loads nothing.

const { printable } = require('@org/cpu-prof/own-packages').format

/** A piece of a page that is HTML already. @typedef {{ html: string }} Html */
/** @typedef {string | Html} Cell a text, or HTML */
/**
 * @typedef {object} Section
 * @property {string} title
 * @property {Html} content
 */

const STYLE = `
:root { --page: #ffffff; --text: #1b1f24; --faint: #5c6670; --line: #d8dde3; --accent: #0063b1;
  --band: #9cc8ea; --other: #d55e00; --bad: #b3261e; --good: #1a7f37; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --page: #16191d; --text: #e6e9ec; --faint: #9aa5b1;
  --line: #343b43; --accent: #6cb6ff; --band: #2f5f86; --other: #f08030; --bad: #ff8a80;
  --good: #6fd38a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1100px; padding: 12px 16px; background: var(--page);
  color: var(--text); font: 13px / 1.4 system-ui, sans-serif; }
h1 { margin: 0; font-size: 18px; overflow-wrap: anywhere; }
h2 { margin: 20px 0 6px; font-size: 14px; }
p { margin: 4px 0; color: var(--faint); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 8px; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; unicode-bidi: isolate; }
th { color: var(--faint); font-weight: normal; white-space: nowrap; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td:not(.number) { overflow-wrap: anywhere; min-width: 12ch; }
bdi { font-family: ui-monospace, monospace; }
.place { color: var(--faint); }
.slower { color: var(--bad); }
.faster { color: var(--good); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--faint); font: 11px system-ui, sans-serif; }
.grid { stroke: var(--line); }
.band { fill: var(--band); opacity: 0.45; }
.median { fill: none; stroke: var(--accent); stroke-width: 2; }
.run { fill: var(--accent); opacity: 0.35; }
.run.other { fill: var(--other); }
.dot { fill: var(--accent); }
.dot.other { fill: var(--other); }
`

/** Returns a text as HTML. @param {unknown} text */
function escapeHtml(text) {
  return printable(String(text)).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

/** Returns a name, whose direction changes nothing around it. @param {string} name @param {string} [place] @returns {Html} */
function named(name, place = '') {
  const tail = place === '' ? '' : ` <bdi class="place">${escapeHtml(place)}</bdi>`
  return { html: `<bdi>${escapeHtml(name)}</bdi>${tail}` }
}

/** @param {Cell} cell */
const htmlOf = (cell) => (typeof cell === 'string' ? escapeHtml(cell) : cell.html)

/**
 * Returns a table: names at the left, numbers at the right.
 * @param {string[]} texts heads of the columns of names @param {string[]} numbers @param {Cell[][]} rows
 * @returns {Html}
 */
function htmlTable(texts, numbers, rows) {
  const kind = (/** @type {number} */ at) => (at < texts.length ? '' : ' class="number"')
  const heads = [...texts, ...numbers].map((head, at) => `<th${kind(at)}>${escapeHtml(head)}</th>`)
  const lines = rows.map((row) => {
    const cells = row.map((cell, at) => `<td${kind(at)}>${htmlOf(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  return {
    html: `<div class="scroll"><table>\n<tr>${heads.join('')}</tr>\n${lines.join('\n')}\n</table></div>`,
  }
}

/**
 * Returns a page.
 * @param {{ title: string, lines: string[], sections: Section[] }} content
 */
function htmlPage({ title, lines, sections }) {
  const { VERSION } = require('@org/cpu-prof/own-packages').addon
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...lines.filter((line) => line !== '').map((line) => `<p>${escapeHtml(line)}</p>`),
    ...sections.map(({ title, content }) => `<h2>${escapeHtml(title)}</h2>\n${content.html}`),
    `<p>cpu-prof ${VERSION}</p>`,
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body.join('\n')}
</body>
</html>
`
}

module.exports = { escapeHtml, htmlPage, htmlTable, named }
