'use strict'

// The graph of the JavaScript in the repository, by units: which of it a spec reaches. Beside requires, it
// has what programs are started with: paths, names of fixtures, commands of the command line, and preloads.

const path = require('node:path')
const { ALL, LOADING, moduleOf } = require('./units.js')

const SCRIPT = /\.[cm]?js$/
const FIXTURES = '__test__/fixtures'
/** Whose files a name alone means. */
const NAMED = /^((packages\/[\w-]+\/)?__test__\/fixtures|docs|examples)\//
/** Each file here that defines a command is reached by those alone that name the command. */
const COMMANDS = /^cli\/commands\/|^packages\/[\w-]+\/(hook\.js|command\.js|commands\/)/
/** The folder of all packages but the main one: who lists them means no file of one. */
const PACKAGES = /^packages\/?$/
/** What a package adds, and the same of any package. */
const HOOK = /^packages\/[\w-]+\/hook\.js$/
const ANY_HOOK = 'packages/*/hook.js'
const PROGRAM = 'bin/cpu-prof.js'
const PRELOAD = 'index.js'
/** The place of the package's file for those who only require it: none of its units. */
const REQUIRED = 'required'
/** What a text is that preloads the package; in what ships, such texts also stand in messages. */
const PRELOADS = /^(.*\s)?(--require|-r|--import)[ =]?$|^(node )?--(require|import)[ =]/
const SHIPPED_PRELOADS = /(^|\s)--(require|import) $/
/** Has the words of messages, which start nothing. */
const MESSAGES = '__test__/helpers/messages.js'
/** What the program does itself for one command. */
const OF_COMMAND = /^cli\/([\w-]+)\//
const SHIPPED = /^(bin\/|cli\/|lib\/|packages\/[\w-]+\/(?!__test__))/

/**
 * @typedef {import('./units.js').Unit} Unit
 * @typedef {import('./units.js').Module} Module
 *
 * @typedef {object} Place a unit; with the name '*' a whole file, also one that is not JavaScript
 * @property {string} file
 * @property {string} name
 * @property {Place[]} [next] where it leads
 */

class Graph {
  /**
   * @param {string[]} files of the repository, as paths from its root
   * @param {(file: string) => string} read returns the text of a file
   */
  constructor(files, read) {
    this.files = new Set(files)
    const scripts = files.filter((file) => SCRIPT.test(file))
    /** @type {Map<string, Module>} */
    this.modules = new Map(scripts.map((file) => [file, moduleOf(file, read(file))]))
    /** The files below each folder. @type {Map<string, string[]>} */
    this.folders = new Map()
    /** The files that a name means. @type {Map<string, string[]>} */
    this.named = new Map()
    for (const file of files) {
      const parts = file.split('/')
      for (let at = 1; at < parts.length; at++) {
        add(this.folders, parts.slice(0, at).join('/'), file)
        if (NAMED.test(file)) add(this.named, parts.slice(at).join('/'), file)
      }
    }
    /** @type {Map<string, Place>} */
    this.places = new Map()
  }

  /** Returns the units and files that a spec reaches. @param {string} spec path from the root */
  reached(spec) {
    /** @type {Set<Place>} */
    const reached = new Set()
    const waiting = [this.place(spec, ALL)]
    /** Commands that nobody has named so far. @type {Set<Place>} */
    const commands = new Set()
    const words = new Set()
    for (;;) {
      const place = waiting.pop()
      if (place === undefined) {
        const named = [...commands].filter(({ file }) =>
          this.namesOf(file).some((name) => words.has(name)),
        )
        if (named.length === 0) return reached
        for (const command of named) commands.delete(command)
        waiting.push(...named)
        continue
      }
      if (reached.has(place)) continue
      reached.add(place)
      for (const word of this.wordsOf(place)) words.add(word)
      place.next ??= this.nextOf(place)
      for (const next of place.next) {
        if (this.isCommand(place, next)) commands.add(next)
        else waiting.push(next)
      }
    }
  }

  /** Returns whether a place leads to another one as to a command. @param {Place} place @param {Place} next */
  isCommand(place, next) {
    if (place.file === PROGRAM) return OF_COMMAND.test(next.file)
    const isBetween = COMMANDS.test(next.file) && COMMANDS.test(place.file)
    return isBetween && next.file !== place.file && this.namesOf(next.file).length > 0
  }

  /** Returns the names of the commands that a file defines, or begins to carry out. @param {string} file */
  namesOf(file) {
    const units = [...(this.modules.get(file)?.units.values() ?? [])]
    const [, name] = OF_COMMAND.exec(file) ?? []
    return COMMANDS.test(file) ? units.flatMap(({ commands }) => commands) : [name]
  }

  /**
   * Returns the words of a unit by which it can name a command. Those of the command line itself name none,
   * unless they stand where it starts another one.
   * @param {Place} place
   */
  wordsOf({ file, name }) {
    const unit = this.modules.get(file)?.units.get(name)
    if (unit === undefined || file === MESSAGES) return []
    const isStarting = unit.paths.some((each) => each.endsWith(PROGRAM))
    return SHIPPED.test(file) && !isStarting ? [] : [...unit.words]
  }

  /** @param {string} file @param {string} name @returns {Place} */
  place(file, name) {
    const key = `${file}#${name}`
    const known = this.places.get(key)
    if (known !== undefined) return known
    /** @type {Place} */
    const place = { file, name }
    this.places.set(key, place)
    return place
  }

  /** @param {Place} place @returns {Place[]} */
  nextOf({ file, name }) {
    const module = this.modules.get(file)
    if (module === undefined) return []
    if (name === ALL) return [...module.units.keys()].map((unit) => this.place(file, unit))
    const unit = module.units.get(name)
    if (unit === undefined) return []
    const { names, uses, paths, texts } = unit
    const preloads = SHIPPED.test(file) ? SHIPPED_PRELOADS : PRELOADS
    return [
      this.place(file, LOADING),
      ...[...names]
        .filter((other) => module.units.has(other))
        .map((other) => this.place(file, other)),
      ...uses.flatMap(({ target, name }) => this.exported(target, name)),
      ...paths.flatMap((text) => this.atPath(file, text)),
      ...texts.flatMap((text) => this.atText(text)),
      // A list of paths, and of nothing else, is of what is read.
      ...(texts.every((text) => this.isPath(text)) ? texts.flatMap((text) => this.at(text)) : []),
      ...(texts.some((text) => preloads.test(text)) ? [this.place(PRELOAD, ALL)] : []),
    ]
  }

  /** Returns where an export of a file stands. @param {string} file @param {string} name @returns {Place[]} */
  exported(file, name) {
    if (file === ANY_HOOK) {
      const hooks = [...this.modules.keys()].filter((each) => HOOK.test(each))
      return hooks.flatMap((hook) => this.exported(hook, name))
    }
    const module = this.modules.get(file)
    if (module === undefined) return this.at(file)
    const passed = () => module.passes.flatMap((target) => this.exported(target, name))
    // Who requires the package gets its functions. Only a preload runs the rest of the file.
    if (file === PRELOAD) return [this.place(file, REQUIRED), ...passed()]
    if (name === LOADING) return [this.place(file, LOADING)]
    if (name === ALL) return [this.place(file, ALL), ...passed()]
    const use = module.exports.get(name)
    if (use === undefined && module.passes.length === 0) return [this.place(file, ALL)]
    return [
      this.place(file, LOADING),
      ...(use === undefined ? passed() : []),
      ...(use?.target === '' ? [this.place(file, use.name)] : []),
      ...(use && use.target !== '' ? this.exported(use.target, use.name) : []),
    ]
  }

  /** Returns what a joined path means: from the folder of its file, or from the root. @param {string} file @param {string} text */
  atPath(file, text) {
    if (PACKAGES.test(text)) return []
    const here = this.at(path.posix.join(path.posix.dirname(file), text))
    return text.startsWith('./') ? here : [...here, ...this.at(path.posix.normalize(text))]
  }

  /** Returns what a text means: a path from the root, or the name of a fixture, a page or an example. @param {string} text */
  atText(text) {
    if (!/^[\w@][\w./@-]*$/.test(text) || PACKAGES.test(text)) return []
    const named = (this.named.get(text) ?? []).map((file) => this.place(file, ALL))
    const isWord = !/[./]/.test(text)
    return [...named, ...this.at(`${FIXTURES}/${text}`), ...(isWord ? [] : this.at(text))]
  }

  /** @param {string} text */
  isPath(text) {
    return this.files.has(text) || this.folders.has(text)
  }

  /** Returns a file, or the files of a folder. @param {string} text @returns {Place[]} */
  at(text) {
    const name = text.replace(/\/$/, '')
    // The folder that has all fixtures says nothing of which are meant.
    if (FIXTURES.startsWith(name)) return []
    const files = this.files.has(name) ? [name] : (this.folders.get(name) ?? [])
    return files.map((file) => this.place(file, ALL))
  }
}

/** @param {Map<string, string[]>} map @param {string} key @param {string} value */
function add(map, key, value) {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

module.exports = { Graph }
