'use strict'

// Compares the type definitions of the addons with their exports: `node scripts/addon-types.js`. With `--write`,
// it writes the definitions.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { definitionsIn, functionsIn } = require('./addon-types/exports.js')
const { Types, camelCase } = require('./addon-types/types.js')
const { ROOT } = require('./build.js')

/** The folders with the exports of each addon, by the name of its type, by file. @type {Record<string, Record<string, string>>} */
const FILES = {
  'lib/addon-types.d.ts': { Recorder: 'src/recorder/exports', Tools: 'src/tools/exports' },
  'packages/fleet/addon-types.d.ts': { Fleet: 'packages/fleet/src/addon/exports' },
}
/** Where the objects of exports are declared. */
const SOURCES = ['src', 'packages/fleet/src']

const HEAD = `
// Written by \`node scripts/addon-types.js --write\` from the exports of the addons.

declare const kind: unique symbol

/** A value of an addon, which JavaScript can only give back. */
export interface External<Name extends string> {
  readonly [kind]: Name
}
`

/** Returns the definitions of a file. @param {Record<string, string>} addons folders by the names of types */
function write(addons) {
  const definitions = definitionsIn(SOURCES.map(inRoot))
  const types = new Types(definitions)
  const interfaces = Object.entries(addons).map(([name, folder]) => {
    const members = functionsIn(inRoot(folder)).map(
      (each) =>
        `${comment(docOf(each))}${each.name}(${types.parameters(each.parameters).join(', ')}): ` +
        (each.literal ?? types.result(each.result)),
    )
    return interfaceOf(name, `The exports of ${folder}.`, members)
  })
  const aliases = [...types.aliases].map(
    ([name, type]) =>
      `${comment(definitions.aliases.get(name)?.doc ?? '')}export type ${name} = ${type}\n`,
  )
  const objects = []
  // The objects of a written object join the set.
  for (const name of types.objects) {
    const { doc = '', fields = [] } = definitions.objects.get(name) ?? {}
    const members = fields.map((each) => comment(each.doc) + types.field(each))
    objects.push(interfaceOf(name, doc, members))
  }
  return [HEAD, ...interfaces, ...aliases, ...objects].join('\n')
}

/** @param {string} name @param {string} doc @param {string[]} members */
const interfaceOf = (name, doc, members) =>
  `${comment(doc)}export interface ${name} {\n${members.join('\n')}\n}\n`

/** Returns the comment of a function, with the names of its parameters as JavaScript has them. @param {import('./addon-types/exports.js').ExportedFunction} exported */
const docOf = ({ doc, parameters }) =>
  parameters.reduce(
    (text, { name }) => text.replaceAll(`\`${name}\``, `\`${camelCase(name)}\``),
    doc,
  )

/** @param {string} doc */
function comment(doc) {
  if (doc === '') return ''
  const lines = doc.split('\n')
  return lines.length === 1 ? `/** ${doc} */\n` : `/**\n * ${lines.join('\n * ')}\n */\n`
}

/** Returns a text as `biome format` leaves it. @param {string} file @param {string} text */
function formatted(file, text) {
  const biome = require.resolve('@biomejs/biome/bin/biome')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'format', `--stdin-file-path=${file}`],
    { input: text, encoding: 'utf8', cwd: ROOT },
  )
  if (status !== 0) throw new Error(`biome cannot read ${file}: ${stderr}`)
  return stdout
}

/** @param {string} file from the root */
const inRoot = (file) => path.join(ROOT, file)

/** Returns the text of a file, empty if there is none. @param {string} file */
const textOf = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '')

if (require.main === module) {
  for (const [file, addons] of Object.entries(FILES)) {
    const text = formatted(file, write(addons))
    if (process.argv.includes('--write')) fs.writeFileSync(inRoot(file), text)
    else if (text !== textOf(inRoot(file))) {
      console.error(`${file} is not what the addons export: node scripts/addon-types.js --write`)
      process.exitCode = 1
    }
  }
}
