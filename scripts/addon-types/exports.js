'use strict'

// Reads what the addons export from their sources.

// napi can write type definitions itself, but while it compiles: a build from cargo's cache writes none, and
// another build would compile all crates again. The sources are read by their layout instead, which `cargo fmt`
// gives them: an export in any other layout is an error.

const fs = require('node:fs')
const path = require('node:path')

/**
 * Names and types are of Rust. A literal is a narrower type of TypeScript, as napi's attribute gives it.
 * @typedef {{ name: string, type: string }} Parameter
 */
/** @typedef {{ name: string, doc: string, parameters: Parameter[], result: string, literal?: string }} ExportedFunction */
/** @typedef {{ doc: string, fields: (Parameter & { doc: string, literal?: string })[] }} ExportedObject */
/**
 * @typedef {object} Definitions what types of the exports mean; all by their names
 * @property {Map<string, ExportedObject>} objects
 * @property {Map<string, { doc: string, type: string }>} aliases
 * @property {Map<string, string>} tasks the types of Rust that tasks give JavaScript
 */

const FUNCTION =
  /((?:^\/\/\/.*\n)*)^#\[napi\(\s*js_name = "(\w+)",\s+catch_unwind(?:,\s+ts_return_type = "(.*)"\s*)?\)\]\npub\(crate\) fn \w+\(([^{]*?)\)(?: -> ([^{]*?))? \{$/gm
const OBJECT =
  /((?:^\/\/\/.*\n)*)^#\[napi\(object(?:, object_\w+ = false)?\)\]\npub(?:\(crate\))? struct (\w+) \{\n([^}]*)^\}$/gm
const FIELD =
  /((?:^ {4}\/\/\/.*\n)*)(?:^ {4}#\[napi\(ts_type = "(.*)"\)\]\n)?^ {4}pub (\w+): (.*),\n/gm
const ALIAS = /((?:^\/\/\/.*\n)*)^(?:pub(?:\(\w+\))? )?type (\w+)(?:<[^>]*>)? =\s+([^;]*);$/gm
const TASK = /^impl Task for (\w+) \{[^}]*?^ {4}type JsValue = ([^;]*);$/gm
const PARAMETER = /^\s*(?:mut )?(\w+): (.*)$/s
const ATTRIBUTE = /^#\[napi\(/gm

/** Returns the functions that the sources of a folder export. @param {string} folder @returns {ExportedFunction[]} */
function functionsIn(folder) {
  return sourcesIn(folder).flatMap(({ text }) =>
    [...text.matchAll(FUNCTION)].map(([, doc, name, literal, parameters, result = '()']) => ({
      name,
      doc: docOf(doc),
      parameters: splitAtCommas(parameters).map(parameterOf),
      result,
      literal,
    })),
  )
}

/** Returns what the types of the exports below some folders mean. @param {string[]} folders @returns {Definitions} */
function definitionsIn(folders) {
  /** @type {Definitions} */
  const definitions = { objects: new Map(), aliases: new Map(), tasks: new Map() }
  for (const { file, text } of folders.flatMap(sourcesIn)) {
    const objects = [...text.matchAll(OBJECT)]
    const count = objects.length + [...text.matchAll(FUNCTION)].length
    if (count !== [...text.matchAll(ATTRIBUTE)].length) {
      throw new Error(`${file}: an export has another layout than scripts/addon-types/ reads`)
    }
    for (const [, doc, name, body] of objects) {
      definitions.objects.set(name, { doc: docOf(doc), fields: fieldsOf(file, body) })
    }
    for (const [, doc, name, type] of text.matchAll(ALIAS)) {
      definitions.aliases.set(name, { doc: docOf(doc), type })
    }
    for (const [, name, type] of text.matchAll(TASK)) definitions.tasks.set(name, type)
  }
  return definitions
}

/** Returns the sources that name napi, in the order of their paths. @param {string} folder */
function sourcesIn(folder) {
  const entries = fs.readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter(({ name }) => name.endsWith('.rs'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }))
    .filter(({ text }) => text.includes('use napi'))
}

/** @param {string} file @param {string} body */
function fieldsOf(file, body) {
  const fields = [...body.matchAll(FIELD)]
  if (fields.map(([whole]) => whole).join('') !== body) {
    throw new Error(`${file}: a field has another layout than scripts/addon-types/ reads`)
  }
  return fields.map(([, doc, literal, name, type]) => ({ name, type, doc: docOf(doc), literal }))
}

/** @param {string} text @returns {Parameter} */
function parameterOf(text) {
  const [, name, type] = PARAMETER.exec(text) ?? []
  if (name === undefined) throw new Error(`'${text}' is not a parameter`)
  return { name, type }
}

/** Returns the parts of a list, without those in brackets of their own. @param {string} text */
function splitAtCommas(text) {
  const parts = ['']
  let depth = 0
  for (const character of text) {
    if ('<(['.includes(character)) depth++
    if ('>)]'.includes(character)) depth--
    if (character === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.filter((part) => part.trim() !== '')
}

/** Returns the text of a comment. @param {string} comment */
const docOf = (comment) => comment.replace(/^ *\/\/\/ ?/gm, '').trimEnd()

module.exports = { definitionsIn, functionsIn }
