'use strict'

// Turns types of Rust into the types that napi makes of them for JavaScript.

/** @typedef {import('./exports.js').Definitions} Definitions */
/** @typedef {{ name: string, of: RustType[] }} RustType a tuple has the name `()` */

/** What is the same in any place. @type {Record<string, string>} */
const SIMPLE = {
  String: 'string',
  str: 'string',
  bool: 'boolean',
  f64: 'number',
  u32: 'number',
  i32: 'number',
  i64: 'number',
  Buffer: 'Buffer',
  Object: 'object',
  Unknown: 'unknown',
  Float64Array: 'Float64Array',
  Int32Array: 'Int32Array',
  Uint16Array: 'Uint16Array',
}
/** What only shares or guards a value. */
const WRAPPERS = ['Arc', 'Mutex']
/** What napi gives an export by itself. */
const GIVEN = 'Env'

class Types {
  /** Names of the objects that were met. @type {Set<string>} */
  objects = new Set()
  /** The aliases that were met, and what they stand for. @type {Map<string, string>} */
  aliases = new Map()
  #definitions

  /** @param {Definitions} definitions */
  constructor(definitions) {
    this.#definitions = definitions
  }

  /** Returns the parameters of a function. @param {import('./exports.js').Parameter[]} parameters */
  parameters(parameters) {
    const own = parameters.map(({ name, type }) => ({ name: camelCase(name), type: parse(type) }))
    const passed = own.filter(({ type }) => type.name !== GIVEN)
    const isOptional = passed.map(({ type }) => type.name === 'Option')
    return passed.map(({ name, type }, at) => {
      const mark = isOptional.slice(at).every(Boolean) ? '?' : ''
      return `${name}${mark}: ${this.#write(type, true)}`
    })
  }

  /** Returns the type of a result. @param {string} rust */
  result(rust) {
    return this.#write(parse(rust), false)
  }

  /**
   * Returns a field of an object: napi leaves out what is `None`, and refuses `null`.
   * @param {import('./exports.js').ExportedObject['fields'][number]} field
   */
  field({ name, type: rust, literal }) {
    const type = parse(rust)
    const [mark, own] = type.name === 'Option' ? ['?', type.of[0]] : ['', type]
    return `${camelCase(name)}${mark}: ${literal ?? this.#write(own, true)}`
  }

  /** @param {RustType} type @param {boolean} isGiven whether JavaScript gives the value to Rust @returns {string} */
  #write({ name, of }, isGiven) {
    const [first] = of
    const { objects, aliases, tasks } = this.#definitions
    if (Object.hasOwn(SIMPLE, name)) return SIMPLE[name]
    if (WRAPPERS.includes(name) || name === 'Result') return this.#write(first, isGiven)
    if (name === 'Vec') {
      const each = this.#write(first, isGiven)
      return /^[\w[\]]+$/.test(each) ? `${each}[]` : `Array<${each}>`
    }
    if (name === 'HashMap') return `Record<string, ${this.#write(of[1], isGiven)}>`
    if (name === 'Option') {
      return `${this.#write(first, isGiven)} | null${isGiven ? ' | undefined' : ''}`
    }
    if (name === 'Function') return this.#function(first, of[1], isGiven)
    if (name === 'External') return `External<'${innermost(first)}'>`
    if (name === 'AsyncTask') {
      return `Promise<${this.#write(parse(known(tasks, first.name)), isGiven)}>`
    }
    if (aliases.has(name)) {
      this.aliases.set(name, this.#write(parse(known(aliases, name).type), isGiven))
      return name
    }
    if (name === '()' && of.length === 0) return 'void'
    if (name === '()') throw new Error('a tuple passes no types to JavaScript: use an object')
    known(objects, name)
    this.objects.add(name)
    return name
  }

  /** @param {RustType} given @param {RustType} result @param {boolean} isGiven */
  #function(given, result, isGiven) {
    const { of } = given.name === 'FnArgs' ? given.of[0] : given
    const parameters = of.map((type, at) => `value${at + 1}: ${this.#write(type, !isGiven)}`)
    return `(${parameters.join(', ')}) => ${this.#write(result, isGiven)}`
  }
}

/** Reads a type: `Vec<&'static str>` is a `Vec` of `str`. @param {string} text @returns {RustType} */
function parse(text) {
  const tokens = text.match(/'\w+|\w+|::|\S/g) ?? []
  const type = read(tokens)
  if (tokens.length > 0) throw new Error(`'${text}' is not a type that scripts/addon-types/ reads`)
  return type
}

/** Takes a type from tokens. @param {string[]} tokens @returns {RustType} */
function read(tokens) {
  while (tokens[0] === '&' || tokens[0]?.startsWith("'")) tokens.shift()
  const name = tokens.shift() ?? ''
  if (name === '(') return { name: '()', of: readList(tokens, ')') }
  if (tokens[0] === '::') {
    tokens.shift()
    return read(tokens)
  }
  if (tokens[0] !== '<') return { name, of: [] }
  tokens.shift()
  return { name, of: readList(tokens, '>') }
}

/** Takes the types of a list with its end. @param {string[]} tokens @param {string} end */
function readList(tokens, end) {
  const types = []
  while (tokens.length > 0) {
    if (tokens[0] === end || tokens[0] === ',') {
      if (tokens.shift() === end) break
    } else if (tokens[0].startsWith("'")) tokens.shift()
    else types.push(read(tokens))
  }
  return types
}

/** @param {RustType} type @returns {string} */
const innermost = ({ name, of }) => (WRAPPERS.includes(name) ? innermost(of[0]) : name)

/** @template T @param {Map<string, T>} map @param {string} name @returns {T} */
function known(map, name) {
  const found = map.get(name)
  if (found === undefined) throw new Error(`scripts/addon-types/ does not know the type '${name}'`)
  return found
}

/** @param {string} name */
const camelCase = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

module.exports = { Types, camelCase }
