'use strict'

// Makes an HTML report: one file, with the data, the script and the style inside.

const crypto = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { loadTools } = require('../../lib/addon.js')
const { callAddon } = require('../../lib/json-result.js')
const { withCleanup } = require('../terminal/cleanup.js')
const { isStdout, printResult } = require('../terminal/output.js')

const PAGE = path.join(__dirname, '..', 'page')

/**
 * Writes a report, or prints it if the file is stdout. The file is whole or not there.
 * @param {string} file @param {() => Promise<string>} data returns the page's data as JSON
 */
async function writeHtml(file, data) {
  await writePage(file, async () => renderHtml(await data()))
}

/**
 * Writes a page, or prints it if the file is stdout. The file is whole or not there.
 * @param {string} file @param {() => Promise<string>} render returns the page
 */
async function writePage(file, render) {
  const isFolder =
    file.endsWith('/') ||
    file.endsWith(path.sep) ||
    (fs.existsSync(file) && fs.statSync(file).isDirectory())
  if (isFolder) throw new Error(`${file} is a folder; --html needs the name of a file`)
  const html = await render()
  if (isStdout(file)) return printResult(html)
  await withCleanup(() => callAddon(() => loadTools().cpuProfWriteFile(file, html)))
}

/** Returns the page. @param {string} data JSON */
async function renderHtml(data) {
  const packed = await promisify(zlib.gzip)(data, { level: 9 })
  const script = bundle(path.join(PAGE, 'page.js'))
  const hash = crypto.createHash('sha256').update(script).digest('base64')
  // Nothing is loaded, and no other script runs, whatever the names in a profile are.
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hash}'`
  const style = fs.readFileSync(path.join(PAGE, 'page.css'), 'utf8')
  const { version } = require('../../package.json')
  return [
    ['POLICY', policy],
    ['<style></style>', `<style>\n${style}</style>`],
    ['<p id="generator"></p>', `<p>cpu-prof ${version}</p>`],
    ['id="data"></script>', `id="data">${packed.toString('base64')}</script>`],
    ['<script></script>', `<script>${script}</script>`],
  ].reduce(fill, fs.readFileSync(path.join(PAGE, 'page.html'), 'utf8'))
}

/** Puts a text in its place. @param {string} html @param {string[]} part */
function fill(html, [place, text]) {
  if (!html.includes(place)) throw new Error(`page.html has no place for ${place}`)
  return html.replace(place, () => text)
}

/**
 * Returns a script of a module and of all that it requires.
 * @param {string} main path
 */
function bundle(main) {
  /** Modules by their paths, in the order in which they are first required. @type {Map<string, string>} */
  const modules = new Map()
  /** @param {string} file */
  const add = (file) => {
    if (modules.has(file)) return
    modules.set(file, '')
    const source = fs.readFileSync(file, 'utf8')
    const linked = source.replace(/require\('(\.[^']+)'\)/g, (_, name) => {
      const other = path.resolve(path.dirname(file), name)
      add(other)
      return `require(${[...modules.keys()].indexOf(other)})`
    })
    modules.set(file, `function (module, require) {\n${linked}}`)
  }
  add(main)
  const list = [...modules.values()].join(',\n')
  const script = `'use strict'
const modules = [\n${list}\n]
const loaded = []
function require(index) {
  if (!loaded[index]) {
    loaded[index] = { exports: {} }
    modules[index](loaded[index], require)
  }
  return loaded[index].exports
}
require(0)
`
  // A script ends at this text, wherever the text stands.
  return script.replaceAll('</script', '<\\/script')
}

module.exports = { writeHtml, writePage }
