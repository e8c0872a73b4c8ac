'use strict'

// Compares values with the types of index.d.ts.

const path = require('node:path')
const ts = require('typescript')
const { PACKAGE } = require('./files.js')

const TYPES = path.join(PACKAGE, 'index.d.ts')

/** The results that the functions of index.d.ts promise, and what was seen of them. */
class Declared {
  /** What does not agree. @type {string[]} */
  problems = []
  /** Members that a value had, by their declarations. @type {Set<ts.Declaration>} */
  #seen = new Set()
  #checker
  /** @type {Map<string, ts.Type>} */
  #results = new Map()

  constructor() {
    const program = ts.createProgram([TYPES], { strict: true, types: [], lib: ['lib.es2022.d.ts'] })
    this.#checker = program.getTypeChecker()
    const source = program.getSourceFile(TYPES)
    for (const node of source?.statements ?? []) {
      if (!ts.isFunctionDeclaration(node) || node.name === undefined) continue
      const signature = this.#checker.getSignatureFromDeclaration(node)
      const result = signature && this.#checker.getAwaitedType(signature.getReturnType())
      if (result !== undefined) this.#results.set(node.name.text, result)
    }
  }

  /** Compares the result of a function, and all that is in it. @param {string} name of the function @param {unknown} result */
  compare(name, result) {
    this.#compare(result, this.#resultOf(name), name)
  }

  /** Returns the members of the results of functions that no compared value had. @param {string[]} names */
  unseen(names) {
    /** @type {Set<ts.Declaration>} */
    const members = new Set()
    for (const name of names) this.#collect(this.#resultOf(name), members)
    const missing = [...members].filter((member) => !this.#seen.has(member))
    return missing.map(nameOf).sort()
  }

  /** @param {string} name */
  #resultOf(name) {
    const type = this.#results.get(name)
    if (type === undefined) throw new Error(`index.d.ts has no function ${name}`)
    return type
  }

  /** @param {unknown} value @param {ts.Type} type @param {string} place */
  #compare(value, type, place) {
    const element = this.#elementOf(type)
    if (Array.isArray(value) && element !== undefined) {
      for (const each of value) this.#compare(each, element, `${place}[]`)
      return
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      if (!this.#accepts(type, value)) {
        this.problems.push(`${place} is ${JSON.stringify(value)}, not ${this.#textOf(type)}`)
      }
      return
    }
    const members = this.#checker.getPropertiesOfType(this.#checker.getNonNullableType(type))
    const others = type.getStringIndexType()
    for (const [key, each] of Object.entries(value)) {
      const member = members.find(({ name }) => name === key)
      if (member !== undefined) {
        for (const declaration of member.declarations ?? []) this.#seen.add(declaration)
        this.#compare(each, this.#checker.getTypeOfSymbol(member), `${place}.${key}`)
      } else if (others !== undefined) this.#compare(each, others, `${place}.${key}`)
      else this.problems.push(`${place}.${key} is not in ${this.#textOf(type)}`)
    }
    for (const member of members) {
      const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
      if (!isOptional && !Object.hasOwn(value, member.name)) {
        this.problems.push(`${place}.${member.name} is missing`)
      }
    }
  }

  /** Returns whether a value without members is of a type. @param {ts.Type} type @param {unknown} value @returns {boolean} */
  #accepts(type, value) {
    if (type.isUnion()) return type.types.some((each) => this.#accepts(each, value))
    if (type.isLiteral()) return type.value === value
    if ((type.flags & ts.TypeFlags.BooleanLiteral) !== 0) {
      return this.#textOf(type) === String(value)
    }
    const flag = {
      string: ts.TypeFlags.String,
      number: ts.TypeFlags.Number,
      undefined: ts.TypeFlags.Undefined,
      object: ts.TypeFlags.Null,
    }[/** @type {string} */ (typeof value)]
    return flag !== undefined && (type.flags & flag) !== 0
  }

  /** Adds the members of a type, and of the types of these. @param {ts.Type} type @param {Set<ts.Declaration>} members @param {Set<ts.Type>} [known] @returns {void} */
  #collect(type, members, known = new Set()) {
    if (known.has(type)) return
    known.add(type)
    const element = this.#elementOf(type)
    if (element !== undefined) return this.#collect(element, members, known)
    if (type.isUnion()) {
      for (const each of type.types) this.#collect(each, members, known)
      return
    }
    if ((type.flags & ts.TypeFlags.Object) === 0 && !type.isIntersection()) return
    for (const member of this.#checker.getPropertiesOfType(type)) {
      for (const declaration of member.declarations ?? []) members.add(declaration)
      this.#collect(this.#checker.getTypeOfSymbol(member), members, known)
    }
  }

  /** Returns the type of an array's elements. @param {ts.Type} type */
  #elementOf(type) {
    const own = this.#checker.getNonNullableType(type)
    return this.#checker.isArrayType(own) ? own.getNumberIndexType() : undefined
  }

  /** @param {ts.Type} type */
  #textOf(type) {
    return this.#checker.typeToString(type)
  }
}

/** Returns the name of a member with that of its interface. @param {ts.Declaration} member */
function nameOf(member) {
  let owner = member.parent
  while (!ts.isInterfaceDeclaration(owner) && !ts.isSourceFile(owner)) owner = owner.parent
  const name = ts.isInterfaceDeclaration(owner) ? owner.name.text : 'index.d.ts'
  return `${name}.${/** @type {ts.NamedDeclaration} */ (member).name?.getText()}`
}

module.exports = { Declared }
