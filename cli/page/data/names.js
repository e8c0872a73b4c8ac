'use strict'

// Names functions, processes and threads, and finds functions by a text.

const { busiestProcess } = require('./recording.js')
const { formatCount } = require('../../terminal/units.js')

/** @typedef {import('./recording.js').Recording} Recording */
/** @typedef {import('./recording.js').Process} Process */

/**
 * Returns a function's name; an anonymous one has its file and line.
 * @param {Recording} recording @param {number} item
 */
function nameOf({ names, files, filePaths, lines }, item) {
  const name = names[item]
  if (name !== '(anonymous)' || files[item] === -1) return name
  const file = filePaths[files[item]].split('/').pop()
  return file ? `(anonymous ${file}${lines[item] > 0 ? `:${lines[item]}` : ''})` : name
}

/** Returns `src/a.ts:12`, or `` for a state. @param {Recording} recording @param {number} item a function */
function placeOf({ files, filePaths, lines, columns, transpiled, texts }, item) {
  const file = files[item]
  if (file === -1) return ''
  const path = filePaths[file]
  if (path === '') return '(native)'
  const line =
    lines[item] > 0 ? `:${lines[item]}${columns[item] > 1 ? `:${columns[item]}` : ''}` : ''
  const text = texts.has(item) ? ` VM${texts.get(item)}` : ''
  return `${path}${text}${line}${transpiled.has(item) ? ' (transpiled)' : ''}`
}

/** Returns a path from its package on. @param {string} path */
function inPackage(path) {
  return path.replace(/^.*\/node_modules\/|^node_modules\//, '')
}

/** Returns `left-pad/index.js:12`. @param {Recording} recording @param {number} item a function */
function shortPlaceOf(recording, item) {
  return inPackage(placeOf(recording, item))
}

/** Returns the package of a function, or its state. @param {Recording} recording @param {number} item */
function packageOf({ files, filePackages, packages, names }, item) {
  const file = files[item]
  return file === -1 ? names[item] : packages[filePackages[file]]
}

/** Functions by their names and places, once one was looked for. @type {WeakMap<Recording, Map<string, number>>} */
const functions = new WeakMap()

/**
 * Returns the function at a place of a report, if the page has one.
 * @param {Recording} recording
 * @param {{ name?: string, file?: string, line?: number, column?: number }} place
 */
function functionAt(recording, place) {
  const keyOf = (/** @type {typeof place} */ { name, file, line, column }) =>
    [name, file, line, column].join('\0')
  const { names, files, fullPaths, lines, columns } = recording
  const known =
    functions.get(recording) ??
    new Map(
      names.map((name, item) => {
        const file = fullPaths[files[item]]
        return [keyOf({ name, file, line: lines[item], column: columns[item] }), item]
      }),
    )
  functions.set(recording, known)
  return known.get(keyOf(place))
}

/** Returns a path as the page shows it. @param {Recording} recording @param {string} path */
function shortPath({ fullPaths, filePaths }, path) {
  return filePaths[fullPaths.indexOf(path)] ?? path
}

/** @param {import('./recording.js').Thread} thread */
function threadLabel({ process, name }) {
  return `${processLabel(process)} ${name}`
}

/** @param {Process} process */
function processLabel({ command, pid }) {
  return pid === 0 ? command : `${command} (${pid})`
}

/** Returns the title of the page: the command of the run or of its busiest process, or both sides. @param {Recording} recording */
function titleOf({ title, processes, compared }) {
  if (compared) return processes.map(({ command }) => command).join(' → ')
  if (title !== undefined) return title
  const others = processes.length - 1
  const more = others > 0 ? ` and ${formatCount(others, 'more process', 'more processes')}` : ''
  return `${busiestProcess(processes).command}${more}`
}

/** Returns whether a function is Node's own or native. @param {Recording} recording @param {number} item */
function isBuiltIn(recording, item) {
  return ['node:', '(native)'].includes(packageOf(recording, item))
}

/**
 * Returns the function that is shown before one is selected: that with the most self time, or the largest
 * difference. Node's own and native ones come last. Returns -1 if nothing ran.
 * @param {Recording} recording @param {import('./costs.js').Costs} costs
 * @param {(item: number) => boolean} isWanted @param {import('./sides.js').Sides} [sides]
 */
function hottestOf(recording, { functionCosts }, isWanted, sides) {
  const { names, files } = recording
  const sizeOf = (/** @type {number} */ item) =>
    sides
      ? Math.abs(sides.head.functionCosts.self[item] - sides.base.functionCosts.self[item])
      : functionCosts.self[item]
  const isOwn = (/** @type {number} */ item) => !isBuiltIn(recording, item)
  let best = -1
  for (let item = 0; item < names.length; item++) {
    if (files[item] === -1 || sizeOf(item) === 0 || !isWanted(item)) continue
    const isBetter =
      best === -1 ||
      (isOwn(item) && !isOwn(best)) ||
      (isOwn(item) === isOwn(best) && sizeOf(item) > sizeOf(best))
    if (isBetter) best = item
  }
  return best
}

/**
 * Returns a test for functions with a text in their names, places or packages.
 * @param {Recording} recording @param {string} query @returns {(item: number) => boolean}
 */
function matcher(recording, query) {
  if (query === '') return () => true
  const text = query.toLowerCase()
  const isWanted = recording.names.map((_, item) =>
    [nameOf, placeOf, packageOf]
      .map((textOf) => textOf(recording, item))
      .join(' ')
      .toLowerCase()
      .includes(text),
  )
  return (item) => isWanted[item]
}

/**
 * Returns the time of all stacks with a wanted function, each once.
 * @param {Recording} recording @param {import('./costs.js').Costs} costs @param {(item: number) => boolean} isWanted
 */
function timeWith({ functions, parent }, { total }, isWanted) {
  const isInside = new Uint8Array(parent.length)
  let us = 0
  for (let node = 0; node < parent.length; node++) {
    const above = parent[node]
    isInside[node] = above === -1 ? 0 : isInside[above]
    if (isInside[node] === 0 && isWanted(functions[node])) {
      isInside[node] = 1
      us += total[node]
    }
  }
  return us
}

module.exports = {
  nameOf,
  placeOf,
  shortPlaceOf,
  inPackage,
  packageOf,
  functionAt,
  shortPath,
  threadLabel,
  processLabel,
  titleOf,
  isBuiltIn,
  hottestOf,
  matcher,
  timeWith,
}
