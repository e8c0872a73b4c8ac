'use strict'

// The arguments that several tools have, as schemas.

const { isLabel } = require('@org/cpu-prof/own-packages').offline

/** Longest text of an argument, in characters. */
const MAX_TEXT = 4096
/** The size of an answer, in tokens: of three characters, as those of `report --budget`. */
const TOKENS = { least: 500, usual: 2000, most: 20_000 }

/** @typedef {typeof import('zod').z} Z */

/** @param {Z} z */
const text = (z) => z.string().min(1).max(MAX_TEXT)

/** @param {Z} z */
const maxTokens = (z) =>
  z
    .number()
    .int()
    .min(TOKENS.least)
    .max(TOKENS.most)
    .default(TOKENS.usual)
    .describe('Bound for the answer. Cut lists say by how much.')

/** @param {Z} z */
const run = (z) =>
  text(z)
    .optional()
    .describe(
      'Name of a run, or path of a trace, .cpuprofile or folder in the project. Default: the last run.',
    )

/** @param {Z} z */
const top = (z) => z.number().int().min(1).max(200).default(15).describe('Rows of each list.')

/** What a tool can leave out of a recording. @type {Record<string, (z: Z) => any>} */
const FILTERS = {
  process: (z) => text(z).describe('Only processes with this in their command, or this pid.'),
  thread: (z) => text(z).describe('Only threads with this in their name.'),
  package: (z) => text(z).describe('Only stacks with a function of this npm package.'),
  focus: (z) => text(z).describe('Only stacks with this in a function or its path:line.'),
  ignore: (z) => text(z).describe('No stacks with this in a function or its path:line.'),
  label: (z) => text(z).refine(isLabel, 'key=value').describe('Only with this label: key=value.'),
  from: (z) => z.number().describe('Start, ms; negative: before the end.'),
  to: (z) => z.number().describe('End, likewise.'),
}

/** Returns the schemas of filters. @param {Z} z @param {string[]} [names] default: all */
function filters(z, names = Object.keys(FILTERS)) {
  return Object.fromEntries(names.map((name) => [name, FILTERS[name](z).optional()]))
}

/** Returns the filters among the arguments of a tool. @param {Record<string, any>} args */
function selectionOf(args) {
  const given = Object.keys(FILTERS).filter((name) => args[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, args[name]]))
}

module.exports = { FILTERS: Object.keys(FILTERS), text, maxTokens, run, top, filters, selectionOf }
