'use strict'

// Reads a JavaScript file as units: its functions and classes, and the code that runs when it is loaded.

const path = require('node:path')
const fs = require('node:fs')
const ts = require('typescript')

/**
 * @typedef {object} Use what a unit takes of another file
 * @property {string} target a path from the root, a package, `node:…`, or `(computed)`
 * @property {string} name an export of the file; '' for its loading alone, '*' for all of it
 *
 * @typedef {object} Unit
 * @property {Set<string>} names that it mentions, those of units of its file among them
 * @property {Set<string>} natives names of the addons' functions
 * @property {Use[]} uses
 * @property {string[]} texts its string literals
 * @property {Set<string>} words of which one can be the name of a command that it starts
 * @property {string[]} commands of the command line that it defines
 * @property {string[]} paths texts that are joined into paths, as `a/b`; `./` where they begin at the file's folder
 *
 * @typedef {object} Module
 * @property {Map<string, Unit>} units by name; '' is the code that runs when the file is loaded
 * @property {Map<string, Use>} exports where each export is: a unit of this file has the target ''
 * @property {string[]} passes files all of whose exports this file exports too
 *
 * @typedef {{ target: string, isTopLevel: boolean }} Require
 */

/** The unit of the code that runs when a file is loaded, and the use that is no more than this. */
const LOADING = ''
/** The use of all units. */
const ALL = '*'
/** A function of an addon. */
const NATIVE = /^cpuProf[A-Z]/

/** What the other packages take of this one: its functions, and files of it by name. */
const MAIN = '@org/cpu-prof'
const OWN_PACKAGES = `${MAIN}/own-packages`
const OWN_FILE = 'cli/own-packages.js'
/** The function that returns what another package adds, by the package's short name. */
const HOOK = 'loadHook'

/** The files by name. @type {Map<string, string>} */
const OWN_FILES = new Map(
  [
    ...fs
      .readFileSync(path.join(__dirname, '..', '..', OWN_FILE), 'utf8')
      .matchAll(/get (\w+)\(\) \{\s+return require\('([^']+)'\)/g),
  ].map(([, name, file]) => [name, resolvedText(OWN_FILE, file)]),
)

/** Parses a file. @param {string} file @param {string} source */
const parse = (file, source) =>
  ts.createSourceFile(file, source, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)

/**
 * Lists what a file requires.
 * @param {string} file path from the root @param {string} source @returns {Require[]}
 */
function requiresOf(file, source) {
  /** @type {Require[]} */
  const found = []
  /** @param {ts.Node} node @param {boolean} isTopLevel */
  const visit = (node, isTopLevel) => {
    const target = targetOf(file, node)
    if (target !== undefined) found.push({ target, isTopLevel })
    const isInner = isTopLevel && !ts.isFunctionLike(node)
    ts.forEachChild(node, (child) => visit(child, isInner))
  }
  visit(parse(file, source), true)
  return found
}

/** Returns what a node requires or imports; undefined if it does neither. @param {string} file @param {ts.Node} node */
function targetOf(file, node) {
  if (ts.isPropertyAccessExpression(node)) return ownFile(node) ?? hookOf(node)
  if (ts.isImportDeclaration(node)) return resolved(file, node.moduleSpecifier)
  if (!ts.isCallExpression(node)) return undefined
  const { expression } = node
  const isRequire = ts.isIdentifier(expression) && expression.text === 'require'
  const isImport = expression.kind === ts.SyntaxKind.ImportKeyword
  return isRequire || isImport ? resolved(file, node.arguments[0]) : undefined
}

/** @param {string} file @param {ts.Node | undefined} name */
function resolved(file, name) {
  if (name === undefined || !ts.isStringLiteralLike(name)) return '(computed)'
  const { text } = name
  return resolvedText(file, text)
}

/** @param {string} file @param {string} text */
function resolvedText(file, text) {
  if (text === MAIN) return 'index.js'
  if (text === OWN_PACKAGES) return OWN_FILE
  return text.startsWith('.') ? path.posix.join(path.posix.dirname(file), text) : text
}

/** Returns the file that another package takes: `x` of `require('@org/cpu-prof/own-packages').x`. @param {ts.PropertyAccessExpression} node */
function ownFile({ expression, name }) {
  if (!ts.isCallExpression(expression)) return undefined
  const [first] = expression.arguments
  const isOwn = first && ts.isStringLiteralLike(first) && first.text === OWN_PACKAGES
  return isOwn ? OWN_FILES.get(name.text) : undefined
}

/** Returns the file of what a package adds: of `loadHook('fleet').x`; with '*' that of any package. @param {ts.PropertyAccessExpression} node */
function hookOf({ expression }) {
  if (!ts.isCallExpression(expression) || expression.expression.getText() !== HOOK) return undefined
  const [first] = expression.arguments
  return `packages/${first && ts.isStringLiteralLike(first) ? first.text : ALL}/hook.js`
}

/** Reads a file. @param {string} file path from the root @param {string} source @returns {Module} */
function moduleOf(file, source) {
  const root = parse(file, source)
  const bindings = bindingsOf(file, root)
  /** @type {Module} */
  const module = { units: new Map(), exports: new Map(), passes: [] }
  const loading = emptyUnit()
  module.units.set(LOADING, loading)
  /** @param {ts.Node} node @param {Unit} unit @param {boolean} [isShallow] */
  const read = (node, unit, isShallow) => readInto(file, node, unit, bindings, isShallow)
  for (const statement of root.statements) {
    if (isExporting(statement)) continue
    const named = namedParts(statement)
    for (const [name, node] of named) {
      const unit = emptyUnit()
      read(node, unit)
      module.units.set(name, unit)
    }
    // The functions in a constant run when somebody uses it.
    const isConstant = ts.isVariableStatement(statement)
    if (isConstant || named.length === 0) read(statement, loading, isConstant)
  }
  readExports(file, root, module, bindings, read)
  return module
}

/** @returns {Unit} */
const emptyUnit = () => ({
  names: new Set(),
  natives: new Set(),
  uses: [],
  texts: [],
  words: new Set(),
  paths: [],
  commands: [],
})

/** Returns the functions, classes and constants of a statement, with their names. @param {ts.Statement} statement @returns {[string, ts.Node][]} */
function namedParts(statement) {
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return statement.name ? [[statement.name.text, statement]] : []
  }
  if (!ts.isVariableStatement(statement)) return []
  const { declarations } = statement.declarationList
  return declarations.flatMap((each) =>
    namesIn(each.name).map((name) => /** @type {[string, ts.Node]} */ ([name, each])),
  )
}

/** Returns the names that a pattern binds. @param {ts.BindingName} name @returns {string[]} */
function namesIn(name) {
  if (ts.isIdentifier(name)) return [name.text]
  return name.elements.flatMap((each) => (ts.isBindingElement(each) ? namesIn(each.name) : []))
}

/** Returns whether a statement only says what the file exports. @param {ts.Statement} statement */
function isExporting(statement) {
  if (!ts.isExpressionStatement(statement)) return false
  const { expression } = statement
  return isExport(expression) && ts.isObjectLiteralExpression(expression.right)
}

/** @param {ts.Node} node @returns {node is ts.BinaryExpression} */
const isExport = (node) => ts.isBinaryExpression(node) && node.left.getText() === 'module.exports'

/**
 * Returns what names of the file stand for: exports of other files, and with '*' whole files.
 * @param {string} file @param {ts.SourceFile} root
 */
function bindingsOf(file, root) {
  /** @type {Map<string, Use>} */
  const bindings = new Map()
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer) {
      const { initializer } = node
      if (ts.isPropertyAccessExpression(initializer)) {
        const own = ownFile(initializer)
        if (own !== undefined) return bind(node.name, own, initializer.expression)
      }
      const inner = ts.isPropertyAccessExpression(initializer)
        ? initializer.expression
        : initializer
      const awaited = ts.isAwaitExpression(inner) ? inner.expression : inner
      const target = targetOf(file, awaited)
      if (target !== undefined) bind(node.name, target, initializer)
    }
    if (ts.isImportDeclaration(node)) {
      const target = resolved(file, node.moduleSpecifier)
      const { name, namedBindings } = node.importClause ?? {}
      if (name) bindings.set(name.text, { target, name: ALL })
      if (namedBindings && ts.isNamespaceImport(namedBindings)) {
        bindings.set(namedBindings.name.text, { target, name: ALL })
      } else {
        for (const { name, propertyName } of namedBindings?.elements ?? []) {
          bindings.set(name.text, { target, name: (propertyName ?? name).text })
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  /** @param {ts.BindingName} name @param {string} target @param {ts.Expression} initializer */
  const bind = (name, target, initializer) => {
    const isProperty = ts.isPropertyAccessExpression(initializer)
    if (ts.isIdentifier(name)) {
      bindings.set(name.text, { target, name: isProperty ? initializer.name.text : ALL })
    } else if (ts.isObjectBindingPattern(name)) {
      for (const element of name.elements) {
        if (!ts.isIdentifier(element.name)) continue
        const own = /** @type {ts.Identifier} */ (element.propertyName ?? element.name).text
        const isRest = element.dotDotDotToken !== undefined
        bindings.set(element.name.text, { target, name: isRest || isProperty ? ALL : own })
      }
    }
  }
  visit(root)
  return bindings
}

/**
 * Adds to a unit what a part of the file mentions.
 * @param {string} file @param {ts.Node} part @param {Unit} unit @param {Map<string, Use>} bindings
 * @param {boolean} [isShallow] without its texts, and the functions in it
 */
function readInto(file, part, unit, bindings, isShallow = false) {
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (isShallow && ts.isFunctionLike(node)) return
    const target = targetOf(file, node)
    if (target !== undefined) unit.uses.push({ target, name: nameOfUse(node) })
    if (!isShallow && isText(node)) {
      unit.texts.push(node.text)
      for (const word of wordsIn(node)) unit.words.add(word)
    }
    if (ts.isIdentifier(node)) {
      if (NATIVE.test(node.text)) unit.natives.add(node.text)
      const isUsed = isMention(node)
      if (isUsed) unit.names.add(node.text)
      const binding = isUsed ? bindings.get(node.text) : undefined
      if (binding) {
        const name = binding.name === ALL ? nameTaken(node) : binding.name
        unit.uses.push({ target: binding.target, name })
      }
    }
    if (ts.isCallExpression(node)) {
      const joined = isShallow ? undefined : joinedPath(node)
      if (joined !== undefined) unit.paths.push(joined)
      const command = definedCommand(node)
      if (command !== undefined) unit.commands.push(command)
    }
    ts.forEachChild(node, visit)
  }
  visit(part)
}

/** @param {ts.Node} node @returns {node is ts.StringLiteralLike | ts.TemplateLiteralLikeNode} */
const isText = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)

/** Returns the words of a text that can name a command: of a word, of a command line, or of a part of one. @param {ts.StringLiteralLike | ts.TemplateLiteralLikeNode} node */
function wordsIn(node) {
  const { text } = node
  if (!ts.isStringLiteral(node) || text.includes('cpu-prof')) return text.split(/[^\w-]+/)
  return /\s/.test(text) || ts.isBinaryExpression(node.parent) ? [] : [text]
}

/** Returns whether an identifier is neither a property nor the name of one. @param {ts.Identifier} node */
function isMention(node) {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node
  if (ts.isVariableDeclaration(parent) || ts.isBindingElement(parent)) {
    return parent.initializer === node
  }
  return true
}

/** Returns the export that a require, or what stands for one, takes of its file. @param {ts.Node} node */
function nameOfUse(node) {
  if (ts.isPropertyAccessExpression(node) && hookOf(node) !== undefined) return node.name.text
  const { parent } = node
  const isOwn = ts.isPropertyAccessExpression(parent) && ownFile(parent) !== undefined
  // The file that is taken by its name is a use of its own.
  return isOwn ? LOADING : nameTaken(node)
}

/** Returns the export that an expression takes of a whole file: `f` in `file.f`; '*' if it takes all. @param {ts.Node} node */
function nameTaken(node) {
  const { parent } = node
  if (ts.isAwaitExpression(parent) || ts.isParenthesizedExpression(parent)) return nameTaken(parent)
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) return parent.name.text
  // The names of a pattern are uses of their own.
  if (ts.isVariableDeclaration(parent) && parent.initializer === node) return LOADING
  if (ts.isExpressionStatement(parent) || ts.isImportDeclaration(node)) return LOADING
  if (isExport(parent)) return LOADING
  return ALL
}

/** Returns the texts of a call of `path.join` as a path, after its first argument. @param {ts.CallExpression} call */
function joinedPath({ expression, arguments: [first, ...others] }) {
  const callee = ts.isPropertyAccessExpression(expression) ? expression.name.text : ''
  if (!['join', 'resolve'].includes(callee) || first === undefined) return undefined
  const texts = others.map((each) => (ts.isStringLiteralLike(each) ? each.text : undefined))
  const end = texts.indexOf(undefined)
  const known = end < 0 ? texts : texts.slice(0, end)
  if (known.length === 0) return undefined
  const isHere = ts.isIdentifier(first) && first.text === '__dirname'
  const start = isHere ? './' : ts.isStringLiteralLike(first) ? `${first.text}/` : ''
  return start + known.join('/')
}

/** Returns the name of the command that a call defines: `x` of `.command('x')`. @param {ts.CallExpression} call */
function definedCommand({ expression, arguments: [first] }) {
  const isCommand = ts.isPropertyAccessExpression(expression) && expression.name.text === 'command'
  return isCommand && first && ts.isStringLiteralLike(first) ? first.text.split(' ')[0] : undefined
}

/**
 * Reads what a file exports.
 * @param {string} file @param {ts.SourceFile} root @param {Module} module
 * @param {Map<string, Use>} bindings @param {(node: ts.Node, unit: Unit) => void} read
 */
function readExports(file, root, { units, exports, passes }, bindings, read) {
  /** @param {string} name @param {ts.Expression} value */
  const add = (name, value) => {
    if (ts.isIdentifier(value)) {
      const { text } = value
      exports.set(
        name,
        bindings.get(text) ?? { target: '', name: units.has(text) ? text : LOADING },
      )
      return
    }
    addUnit(name, value)
  }
  /** @param {string} name @param {ts.Node} node */
  const addUnit = (name, node) => {
    const unit = emptyUnit()
    read(node, unit)
    units.set(`exports.${name}`, unit)
    exports.set(name, { target: '', name: `exports.${name}` })
  }
  /** @param {ts.Expression} value */
  const addAll = (value) => {
    const target = targetOf(file, value)
    if (target !== undefined) passes.push(target)
    if (!ts.isObjectLiteralExpression(value)) return
    for (const property of value.properties) {
      if (ts.isShorthandPropertyAssignment(property)) add(property.name.text, property.name)
      else if (ts.isPropertyAssignment(property)) add(property.name.getText(), property.initializer)
      else if (ts.isGetAccessor(property)) addUnit(property.name.getText(), property)
      else if (ts.isSpreadAssignment(property)) {
        const { expression } = property
        const binding = ts.isIdentifier(expression) ? bindings.get(expression.text) : undefined
        if (binding) passes.push(binding.target)
        addAll(expression)
      }
    }
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (isExport(node)) addAll(node.right)
    ts.forEachChild(node, visit)
  }
  visit(root)
}

module.exports = { ALL, LOADING, moduleOf, requiresOf }
