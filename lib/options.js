'use strict'

// The settings of a recording, by their names in code.

/** The folder in the working directory where runs without a `dir` are, each in a folder of its own. */
const RUNS = 'profiles'

/**
 * @typedef {object} Setting
 * @property {'string' | 'number' | 'boolean'} type of the value in code
 * @property {string} [variable] its environment variable
 * @property {string} [flag] its option on the command line
 * @property {string} [value] what the help calls the option's value
 * @property {string} [help] the option's description
 */

/** @type {Record<keyof import('../index.js').Options, Setting>} */
const SETTINGS = {
  dir: {
    type: 'string',
    variable: 'CPU_PROF_DIR',
    flag: '--dir',
    value: '<dir>',
    help: `folder of the recordings (default: ${RUNS}/<date.time.pid>)`,
  },
  name: {
    type: 'string',
    variable: 'CPU_PROF_NAME',
    flag: '--name',
    value: '<pattern>',
    help: 'names of the recordings (default: CPU.%D.%H.%P.%T.%N)',
  },
  interval: {
    type: 'number',
    variable: 'CPU_PROF_INTERVAL',
    flag: '--interval',
    value: '<µs>',
    help: 'microseconds between two samples (default: 1000)',
  },
  format: {
    type: 'string',
    variable: 'CPU_PROF_FORMAT',
    flag: '--format',
    value: '<format>',
    help: 'trace, cpuprofile or trace,cpuprofile (default: trace)',
  },
  flushInterval: {
    type: 'number',
    variable: 'CPU_PROF_FLUSH_INTERVAL',
    flag: '--flush-interval',
    value: '<ms>',
    help: 'milliseconds between two writes (default: 500; with the inspector: 2000)',
  },
  ignoreList: {
    type: 'string',
    variable: 'CPU_PROF_IGNORE_LIST',
    flag: '--ignore-list',
    value: '<mode>',
    help: 'node_modules in DevTools: auto, keep or show (default: auto)',
  },
  maxNodes: {
    type: 'number',
    variable: 'CPU_PROF_MAX_NODES',
    flag: '--max-nodes',
    value: '<n>',
    help: 'call-tree nodes kept in memory per recording (default: 200000)',
  },
  categories: {
    type: 'string',
    variable: 'CPU_PROF_CATEGORIES',
    flag: '--categories',
    value: '<list>',
    help: 'kinds of events: cpu,gc,memory,loop,timings,processes (default: these), and http',
  },
  source: {
    type: 'string',
    variable: 'CPU_PROF_SOURCE',
    flag: '--source',
    value: '<source>',
    help: 'source of the samples: auto, v8 or inspector (default: auto)',
  },
  maxSize: {
    type: 'string',
    variable: 'CPU_PROF_MAX_SIZE',
    flag: '--max-size',
    value: '<size>',
    help: 'size of the files per thread, such as 200M: removes the oldest part (default: no limit)',
  },
  keep: {
    type: 'string',
    variable: 'CPU_PROF_KEEP',
    flag: '--keep',
    value: '<time>',
    help: 'time that is kept, such as 10m: removes what is older (default: all)',
  },
  // Only in code: a preload always records workers, and has no part of a program to name.
  workers: { type: 'boolean' },
  label: { type: 'string' },
}

module.exports = { RUNS, SETTINGS }
