'use strict'

// The options that several commands have, and the checks of their values.

const { InvalidArgumentError, Option } = require('commander')
const { loadTools } = require('../lib/addon.js')
const { isDefect } = require('../lib/errors/defect.js')
const { RUN_FOLDER, settingsOf } = require('../lib/settings.js')
const { FAILED } = require('./exit-codes.js')
const { messageOf } = require('./terminal/error-text.js')

/** @typedef {import('commander').Command} Command */

/** The help of the argument. */
const INPUTS = 'files and folders; - is stdin'
/** Settings of when a process starts to record by itself. */
const STARTS = ['start', 'for', 'every', 'maxRecordings', 'socket']

/** The longest recording that a process is asked for. */
const LONGEST_RECORDING = '31d'

/** Letters that a kind and a mistyped kind have in common at least. */
const ALIKE = 3

/** Adds the options that choose what is read. @param {Command} command @param {{ hasSlice?: boolean }} [parts] whether a slice of the time can be chosen */
function addFilters(command, { hasSlice = true } = {}) {
  const from = 'skip everything before this time (1500ms, 1.5s); -10s keeps the last 10 seconds'
  const to = 'skip everything after this time; -10s skips the last 10 seconds'
  const place = 'a function with this text in its name or its path:line'
  const slice = [
    new Option('--from <time>', from).argParser(parseMoment),
    new Option('--to <time>', to).argParser(parseMoment),
  ]
  const options = [
    ...(hasSlice ? slice : []),
    listOption(
      '--process <text>',
      'keep only processes with this text in their command, or with this pid',
    ),
    listOption(
      '--thread <text>',
      'keep only threads with this text in their name, or with this thread id',
    ),
    listOption('--package <name>', 'keep only stacks with a function of this package'),
    listOption('--focus <text>', `keep only stacks with ${place}`),
    listOption('--ignore <text>', `skip stacks with ${place}`),
    listOption(
      '--label <key=value>',
      'keep only samples with this label; key= keeps samples without the key',
      checkLabel,
    ),
    sourceMapsOption(),
    symbolsOption(),
  ]
  for (const option of options) command.addOption(option)
  return command
}

/**
 * Returns an option that can come several times, or with a list.
 * @param {string} flag @param {string} help @param {(text: string) => void} [check] throws if a text
 *   is invalid
 */
function listOption(flag, help, check = () => {}) {
  /** @param {string} text @param {string[]} [before] */
  const collect = (text, before = []) => {
    check(text)
    const texts = flag.endsWith('<list>') ? text.split(',') : [text]
    return [...before, ...texts.filter((each) => each !== '')]
  }
  return new Option(flag, help).argParser(collect)
}

function quietOption(help = 'print problems only') {
  return new Option('-q, --quiet', help)
}

function inspectorOption() {
  const help = 'arm processes that are not armed, by SIGUSR1 and the inspector (Linux)'
  return new Option('--inspector', help)
}

/** Returns the option that chooses what rows are of. @param {string} help @param {readonly string[]} kinds */
function kindOption(help, kinds) {
  /** Returns the kind that a text names, also in the plural. @param {string} text */
  const parse = (text) => {
    const kind = kinds.find((kind) => text === kind || text === `${kind}s`)
    if (kind !== undefined) return kind
    // The rest is the key, in the user's spelling.
    if (/^labels?:./.test(text)) return text.replace('labels:', 'label:')
    const alike = kinds.find((kind) => text.startsWith(kind.slice(0, ALIKE)))
    const guess = alike === undefined ? '' : ` Did you mean ${alike}?`
    throw new InvalidArgumentError(`Allowed choices are ${kinds.join(', ')}.${guess}`)
  }
  return new Option('--by <what>', help).choices([...kinds, 'label:<key>']).argParser(parse)
}

function sourceMapsOption() {
  return new Option('--no-source-maps', 'show places in the code that ran, not in its sources')
}

function symbolsOption() {
  return listOption('--symbols <folder>', 'read the symbols of native modules from this folder')
}

/** Returns the end of a help. @param {string[]} lines */
function examples(lines) {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`
}

/** @param {string} text */
function checkLabel(text) {
  const { isLabel } = require('../lib/offline.js')
  if (!isLabel(text)) throw new InvalidArgumentError('Use a key and a value: route=/users.')
}

/** Returns milliseconds; negative ones count from the end. @param {string} text */
function parseMoment(text) {
  const isFromEnd = text.startsWith('-')
  const ms = parseNumberOrLength(isFromEnd ? text.slice(1) : text)
  if (ms === null) {
    throw new InvalidArgumentError('Use a time such as 1500, 1500ms, 1.5s, or -10s from the end.')
  }
  return isFromEnd ? -ms : ms
}

/** Returns milliseconds; null for a text that is neither their number nor a length of time. @param {string} text @returns {number | null} */
function parseNumberOrLength(text) {
  return loadTools().cpuProfLengthMs(/\d$/.test(text) ? `${text}ms` : text)
}

/** @param {string} text */
function parseCount(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.')
  return Number(text)
}

/**
 * Adds an option whose value is a length of time, in whole milliseconds.
 * @param {Command} command @param {string} flag @param {string} help
 * @param {object} bounds lengths
 * @param {string} [bounds.least] @param {string} [bounds.most]
 * @param {string} [bounds.usual] the default @param {string} [bounds.usualHelp] the default in the help
 */
function addLength(command, flag, help, bounds) {
  const { least = '1ms', most, usual, usualHelp = usual } = bounds
  /** Returns milliseconds. @param {string} text */
  const parse = (text) => {
    const [ms, leastMs, mostMs] = [text, least, most ?? text].map(roundedMs)
    if (ms >= leastMs && ms <= mostMs) return ms
    const limits = most === undefined ? `from ${least}` : `from ${least} to ${most}`
    throw new InvalidArgumentError(`Use a length such as 10s, 500ms, 5m, 1h or 7d, ${limits}.`)
  }
  const option = new Option(flag, help).argParser(parse)
  if (usual === undefined) return command.addOption(option)
  const name = option.attributeName()
  // The help of the command needs no addon, so the default is read when the command is called.
  return command.addOption(option.default(usual, usualHelp)).hook('preAction', () => {
    if (command.getOptionValueSource(name) !== 'default') return
    command.setOptionValueWithSource(name, parse(usual), 'default')
  })
}

/** Returns milliseconds; NaN for a text that is not a length of time. @param {string} text @returns {number} */
function roundedMs(text) {
  return Math.round(loadTools().cpuProfLengthMs(text) ?? Number.NaN)
}

/** Adds the options that choose running processes. @param {Command} command */
function addTargets(command) {
  return command
    .argument('[process...]', 'process ids, or texts in a label, a package or a script')
    .option('--all', 'take all processes that can be controlled')
    .option('--tree', 'also take the processes below each')
}

const CATEGORIES = 'categories'
const NATIVE_HELP = 'also record native functions and threads: adds the category native'

/**
 * Adds the settings of a recording as options. Returns those that are given, without the folder, once
 * the command is called.
 * @param {Command} program @param {Command} command
 * @param {{ without?: string[], hasDefaults?: boolean }} [choice] names of settings that are no options;
 *   whether the settings that are not given have the defaults
 */
function addSettings(program, command, { without = [], hasDefaults = true } = {}) {
  /** @type {Record<string, string>} */
  const settings = {}
  completeWhenCalled(program, command, (addon) => {
    for (const { name, flag, help, default: usual } of settingsOf(addon)) {
      if (flag === null || without.includes(name)) continue
      const value = name === 'dir' ? RUN_FOLDER : usual
      const text = hasDefaults ? `${help} (default: ${value})` : help
      command.option(flag, text, (given) => {
        if (name !== 'dir') settings[name] = given
        return given
      })
      if (name === CATEGORIES) command.option('--native', NATIVE_HELP)
    }
  })
  command.hook('preAction', () => {
    if (!command.opts().native) return
    const given = settings[CATEGORIES] ?? process.env.CPU_PROF_CATEGORIES ?? ''
    // A list that is wrong is shown as it was given.
    const hasNative = /(?:^|[,+])\s*native\s*(?:,|$)/.test(given)
    if (!hasNative) settings[CATEGORIES] = given === '' ? '+native' : `${given},native`
  })
  return settings
}

/**
 * Completes a command by what only the addon knows, when the command is called: the help of the program
 * and the other commands need no addon.
 * @param {Command} program @param {Command} command @param {(addon: import('../lib/addon.js').Tools) => void} complete
 */
function completeWhenCalled(program, command, complete) {
  program.hook('preSubcommand', (_, called) => {
    if (called !== command) return
    try {
      complete(loadTools())
    } catch (error) {
      if (isDefect(error)) throw error
      // Not wrong usage.
      process.exitCode = FAILED
      command.error(`error: ${messageOf(error).split('\n', 1)[0]}`)
    }
  })
}

module.exports = {
  INPUTS,
  LONGEST_RECORDING,
  STARTS,
  addFilters,
  addLength,
  addSettings,
  addTargets,
  completeWhenCalled,
  examples,
  inspectorOption,
  kindOption,
  listOption,
  parseCount,
  parseNumberOrLength,
  quietOption,
  sourceMapsOption,
  symbolsOption,
}
