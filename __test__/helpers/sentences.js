'use strict'

// Programs whose cause is known, with the first sentence of their reports.

const { messages } = require('./messages.js')

/** @typedef {import('./written.js').Recorded} Recorded */
/** @typedef {import('./written.js').Span} Span */

const START_US = 1e9
const LOAD = 'executeUserEntryPoint node:internal/modules/run_main:1'
const COMPILE = `${LOAD} > Module._compile node:internal/modules/cjs/loader:1`
const MAIN = `${COMPILE} > (anonymous) app.js:1`
const LINT = [
  'verify node_modules/eslint/lib/linter/linter.js:1',
  'runRules node_modules/eslint/lib/linter/linter.js:9',
].join(' > ')

const NODE = '/usr/bin/node'
const TLS = [
  { name: 'uv__read', module: NODE },
  { name: 'node::LibuvStreamWrap::OnUvRead', module: NODE },
  { name: 'node::crypto::TLSWrap::Cycle', module: NODE },
]
const INFLATE = { name: 'inflate_fast', module: NODE }
const EJS = { name: 'render', file: 'node_modules/ejs/lib/ejs.js', line: 9 }

/** A process that starts others, and idles meanwhile. @param {number} pid @param {number} ms @returns {Recorded} */
const npm = (pid, ms) => ({
  pid,
  label: 'npm',
  argv: ['run', 'build'],
  processStartMs: pid,
  spans: [
    [COMPILE, 60],
    ['(idle)', ms - 60],
  ],
})

/** @param {number} pid @param {number} ppid @param {number} startMs @param {Recorded['spans']} spans @returns {Recorded} */
const child = (pid, ppid, startMs, spans) => ({
  pid,
  ppid,
  ancestors: [ppid],
  label: `task${pid}.js`,
  processStartMs: pid,
  spans,
  start: START_US + 1000 * startMs,
})

/**
 * A process whose children use 2 s, of which a run saw these times. @param {number} nodes @param {number} nodesMs
 * @param {number} othersMs @returns {Recorded}
 */
const withUnrecorded = (nodes, nodesMs, othersMs) => ({
  label: 'build.js',
  spans: [
    [`${MAIN} > run app.js:2`, 40],
    ['(idle)', 1000, { childrenMs: 2000 }],
  ],
  events: [
    {
      name: 'programs.unrecorded',
      ph: 'I',
      s: 't',
      ts: START_US + 1_040_000,
      cat: 'disabled-by-default-devtools.timeline',
      args: { data: { nodes, nodesUs: nodesMs * 1000, othersUs: othersMs * 1000 } },
    },
  ],
})

/** Returns five functions of each package, with 20 ms each. @param {string[]} names */
const ofPackages = (names) =>
  names.flatMap((name) =>
    [1, 2, 3, 4, 5].map(
      (line) => /** @type {Span} */ ([`f${line} node_modules/${name}/index.js:${line}`, 20]),
    ),
  )

/**
 * Programs by what is wrong with them: their recordings, and the sentence.
 * @type {Record<string, { recordings: Recorded[], sentence: string | undefined }>}
 */
const PROGRAMS = {
  'one own function': {
    recordings: [
      {
        spans: [
          [`${MAIN} > resolveCart app.js:9 > computeDiscount price.js:2`, 710],
          [`${MAIN} > other node_modules/a/a.js:2`, 150],
          [`${MAIN} > more node_modules/b/b.js:2`, 140],
        ],
      },
    ],
    sentence: '71 % of the work is computeDiscount (price.js:2), called by resolveCart.',
  },
  'a built-in function that an own function calls': {
    recordings: [
      {
        spans: [
          [`${MAIN} > load app.js:3 > parse`, 900],
          [`${MAIN} > load app.js:3`, 100],
        ],
      },
    ],
    sentence: '90 % of the work is parse, called by load (app.js:3).',
  },
  'a regular expression': {
    recordings: [
      {
        spans: [
          [[{ name: 'isTitle', file: 'validate.js', line: 2 }, { name: 'RegExp: ^(a|a)+$' }], 1500],
        ],
      },
    ],
    sentence: '100 % of the work is RegExp: ^(a|a)+$, called by isTitle (validate.js:2).',
  },
  'functions of Node': {
    recordings: [
      {
        spans: [
          [`${MAIN} > walk app.js:4 > readFileSync node:fs:441 > openSync node:fs:570 > open`, 500],
          [`${MAIN} > walk app.js:4 > readFileSync node:fs:441`, 100],
          [`${MAIN} > walk app.js:4 > readdirSync node:fs:1510 > readdir`, 300],
          [`${MAIN} > walk app.js:4`, 100],
        ],
      },
    ],
    sentence: '90 % of the work is fs.readFileSync and fs.readdirSync, called by walk (app.js:4).',
  },
  'a function of Node that has half of the time': {
    recordings: [
      {
        spans: [
          [`${MAIN} > load app.js:4 > gzipSync node:zlib:8`, 500],
          [`${MAIN} > load app.js:4`, 500],
        ],
      },
    ],
    sentence: '100 % of the work is load (app.js:4).',
  },
  'an addon': {
    recordings: [
      {
        spans: [
          [[{ name: 'hash', file: 'app.js', line: 2 }, { name: '(native addon)' }], 800],
          [`hash app.js:2`, 200],
        ],
      },
    ],
    sentence: '80 % of the work is a native addon, called by hash (app.js:2).',
  },
  'a function of a package': {
    recordings: [
      {
        spans: [
          [`${MAIN} > render app.js:3 > cloneDeep node_modules/lodash/lodash.js:9`, 800],
          [`${MAIN} > render app.js:3`, 200],
        ],
      },
    ],
    sentence: '80 % of the work is cloneDeep of lodash (lodash.js:9), called by render.',
  },
  'a rule of ESLint': {
    recordings: [
      {
        spans: [
          [`${LINT} > Literal rules/no-secrets.js:3 > entropy rules/no-secrets.js:9`, 700],
          [LINT, 300],
        ],
      },
    ],
    sentence: '70 % of the work is the rule no-secrets, mostly entropy (no-secrets.js:9).',
  },
  'a test': {
    recordings: [
      {
        spans: [
          [
            [
              { name: "callback of test('adds')", file: 'sum.test.js', line: 3 },
              { name: 'add', file: 'sum.js', line: 1 },
            ],
            900,
          ],
          [`run node_modules/mocha/lib/runner.js:1`, 100],
        ],
      },
    ],
    sentence: '90 % of the work is the test adds (sum.test.js), mostly add (sum.js:1).',
  },
  'garbage collection': {
    recordings: [
      {
        spans: [
          [`${MAIN} > buildIndex app.js:4`, 300],
          ['(garbage collector)', 600],
          [`${MAIN} > buildIndex app.js:4`, 100],
        ],
      },
    ],
    sentence: '60 % of the work is garbage collection, mostly under buildIndex (app.js:4).',
  },
  'a blocked call': {
    recordings: [
      {
        spans: [
          [
            `${MAIN} > copyAssets app.js:2 > spawnSync node:child_process:9 > spawn`,
            900,
            { cpuMs: 0 },
          ],
          [`${MAIN} > copyAssets app.js:2`, 100],
        ],
      },
    ],
    sentence:
      '90 % of the 1.0 s nothing worked: a thread was blocked in spawn, called by copyAssets (app.js:2).',
  },
  'a program that waits': {
    recordings: [
      {
        spans: [
          ['(idle)', 4600],
          [`${MAIN} > poll app.js:2`, 400],
        ],
      },
    ],
    sentence:
      '92 % of the 5.0 s nothing worked: the program waited for events (timers, network, files, ' +
      'other programs). 100 % of the work is poll (app.js:2).',
  },
  'a program that only waits': {
    recordings: [
      {
        spans: [
          ['(idle)', 4800],
          [`${MAIN} > poll app.js:2`, 200],
        ],
      },
    ],
    sentence:
      '96 % of the 5.0 s nothing worked: the program waited for events (timers, network, files, ' +
      'other programs).',
  },
  'a machine that others keep busy': {
    recordings: [
      {
        spans: [[`${MAIN} > count app.js:2`, 2000, { everyMs: 10, cpuMs: 600, waitMs: 1400 }]],
      },
    ],
    sentence:
      '70 % of the time no core was free for it (other programs, or a limit of the CPU): the numbers ' +
      'below are stretched. 100 % of the work is count (app.js:2).',
  },
  'starts of Node that keep the machine busy': {
    recordings: [
      {
        spans: [[`${MAIN} > count app.js:2`, 2000, { everyMs: 10, cpuMs: 600, waitMs: 1400 }]],
        startCpuMs: 1300,
      },
    ],
    sentence:
      '100 % of the work is count (app.js:2). Threads waited for a free core for 70 % of their busy time.',
  },
  'a worker that has most of what all do': {
    recordings: [
      { spans: [['(idle)', 1000]] },
      ...[800, 100, 100].map((ms, index) => ({
        tid: index + 1,
        script: 'task.js',
        spans: /** @type {[string, number][]} */ ([[`${MAIN} > count app.js:2`, ms]]),
      })),
    ],
    sentence: '100 % of the work is count (app.js:2), mostly in one thread.',
  },
  'a stopped process': {
    recordings: [
      {
        spans: [
          [`${MAIN} > merge app.js:2`, 500],
          [`${MAIN} > merge app.js:2`, 3000, { everyMs: 3000, cpuMs: 0 }],
          [`${MAIN} > merge app.js:2`, 500],
        ],
        flushMs: 2000,
      },
    ],
    sentence:
      'The process was stopped for 3.0 s of the 4.0 s (SIGSTOP, Ctrl-Z or a debugger). 100 % of the work ' +
      'is merge (app.js:2).',
  },
  'native threads': {
    recordings: [
      {
        spans: [
          [`${MAIN} > hash app.js:2`, 40],
          ['(idle)', 1000, { nativeMs: 3000 }],
        ],
      },
    ],
    sentence: `99 % ${messages.toNativeThreads}.`,
  },
  'other programs': {
    recordings: [
      {
        label: 'biome',
        spans: [
          [`${MAIN} > run app.js:2`, 40],
          ['(idle)', 1000, { childrenMs: 2000 }],
        ],
      },
    ],
    sentence: `98 % ${messages.toPrograms} other than Node, started by biome, ${messages.haveNoProfile}.`,
  },
  'unrecorded Node processes': {
    // What was seen misses the ends of the processes.
    recordings: [withUnrecorded(2, 1700, 60)],
    sentence: `98 % of the CPU went to ${messages.unrecordedNodes}, started by build.js.`,
  },
  'unrecorded Node processes, and other programs': {
    recordings: [withUnrecorded(1, 800, 800)],
    sentence: `98 % ${messages.toPrograms} without a recording, started by build.js: 49 % to Node processes.`,
  },
  'other programs, and a Node process that hardly worked': {
    recordings: [withUnrecorded(1, 40, 1800)],
    sentence: `98 % ${messages.toPrograms} other than Node, started by build.js, ${messages.haveNoProfile}.`,
  },
  'unrecorded Node processes, whose CPU time nobody knows': {
    recordings: [withUnrecorded(2, 0, 0)],
    sentence: `98 % ${messages.toPrograms} without a recording, started by build.js, 2 Node processes among them.`,
  },
  'unrecorded workers': {
    recordings: [
      {
        spans: [
          [`${MAIN} > start app.js:2`, 40],
          ['(idle)', 1000, { nativeMs: 3000 }],
        ],
        events: [
          {
            name: 'native.threads',
            ph: 'I',
            s: 't',
            ts: START_US + 1_000_000,
            cat: 'disabled-by-default-devtools.timeline',
            args: { data: { spanUs: 900_000, threads: [['WorkerThread', 3, 2_700_000]] } },
          },
        ],
      },
    ],
    sentence: `89 % of the CPU went to ${messages.unrecordedWorkers}.`,
  },
  'a killed process': {
    recordings: [
      {
        spans: [
          [`${MAIN} > load app.js:2`, 1000],
          [`${MAIN} > parse parser.ts:88`, 4200],
        ],
        signal: 'SIGKILL',
      },
    ],
    sentence: 'Killed by SIGKILL after 5.2 s, 4.2 s into parse (parser.ts:88).',
  },
  'a program that a user ends': {
    recordings: [
      {
        spans: [[`${MAIN} > serve app.js:2`, 1000]],
        signal: 'SIGINT',
      },
    ],
    sentence: '100 % of the work is serve (app.js:2).',
  },
  'one of several processes': {
    recordings: [
      npm(2, 2100),
      child(3, 2, 100, [[`${MAIN} > build app.js:2`, 1900]]),
      child(4, 2, 100, [[`${MAIN} > lint app.js:9`, 100]]),
    ],
    sentence: '95 % of the work is build (app.js:2), in task3.js (1 of 2 processes).',
  },
  'start-up': {
    recordings: [
      npm(2, 400),
      child(3, 2, 60, [
        [COMPILE, 40],
        [MAIN, 5],
      ]),
      child(4, 2, 120, [
        [COMPILE, 40],
        [MAIN, 5],
      ]),
    ],
    sentence:
      'Nothing took long: 93 % of the 150 ms of work is start-up of 3 processes; npm alone 60 ms.',
  },
  'loading modules': {
    recordings: [
      {
        spans: [
          [`${MAIN} > require node:internal/modules/helpers:1`, 900],
          [MAIN, 100],
        ],
      },
    ],
    sentence: "90 % of the 1.0 s of work is Node's start and loading modules.",
  },
  'a function that runs alone before others': {
    recordings: [
      {
        spans: [
          [`${MAIN} > prepare app.js:2`, 3000],
          ['(idle)', 2000],
        ],
      },
      ...[1, 2, 3].map((tid) => ({
        tid,
        script: 'task.js',
        start: START_US + 3_000_000,
        spans: /** @type {Recorded['spans']} */ ([[`shard task.js:${tid}`, 2000]]),
      })),
    ],
    sentence: '60 % of the time, with 33 % of the work, is prepare (app.js:2), in one thread.',
  },
  'a function that runs alone, and that a built-in function keeps': {
    recordings: [
      {
        spans: [
          [`${MAIN} > prepare app.js:2 > inflate`, 2500],
          [`${MAIN} > prepare app.js:2`, 500],
          ['(idle)', 2000],
        ],
      },
      ...[1, 2, 3].map((tid) => ({
        tid,
        script: 'task.js',
        start: START_US + 3_000_000,
        spans: /** @type {Recorded['spans']} */ ([[`shard task.js:${tid}`, 2000]]),
      })),
    ],
    sentence:
      '60 % of the time, with 33 % of the work, is prepare (app.js:2), mostly inflate, in one thread.',
  },
  'work that is spread': {
    recordings: [
      {
        spans: [
          ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(
            (name) =>
              /** @type {Span} */ ([
                `${name}1 node_modules/${name}/${name}.js:1`,
                name === 'a' ? 130 : 100,
              ]),
          ),
        ],
      },
    ],
    sentence:
      'The work is spread: a 16 %, b 12 %, c 12 %, d 12 %; the largest function, a1 of a (a.js:1), has 16 %.',
  },
  'work that packages of one scope share': {
    recordings: [
      {
        spans: [...ofPackages(['@a/x', '@a/y', 'c', 'd', 'e', 'f', 'g', '@b/h']), [COMPILE, 200]],
      },
    ],
    sentence:
      "The work is spread: the @a packages 20 %, c 10 %, d 10 %, e 10 %; of all work 20 % is Node's start and loading modules.",
  },
  'work that no list explains': {
    recordings: [{ spans: ofPackages([...'abcdefghijklmnopqrst']) }],
    sentence: undefined,
  },
  'native code that no function called': {
    recordings: [
      {
        spans: [
          ['(program)', 870],
          [`${MAIN} > handle app.js:3`, 130],
        ],
      },
    ],
    sentence:
      '87 % of the work is native code outside of JavaScript (TLS, HTTP parsing, timers and so on); ' +
      'on Linux, a recording with --native names it.',
  },
  'native code that no function called, by its module and purpose': {
    recordings: [
      {
        spans: [
          [[...TLS, { name: 'rsaz_1024_mul_avx2', module: NODE }], 500],
          [[...TLS, { name: 'EVP_DigestUpdate', module: NODE }], 200],
          [[{ name: 'uv__io_poll', module: NODE }], 100],
          ['(program)', 50],
          ['onhandshakedone node:_tls_wrap:3 > emit node:events:9 > callback app.js:2', 150],
        ],
      },
    ],
    sentence:
      '85 % of the work is native code outside of JavaScript, mostly OpenSSL (rsaz_1024_mul_avx2): ' +
      'TLS of callback (app.js:2).',
  },
  'spread work with a native function as the largest': {
    recordings: [
      {
        spans: [
          ...ofPackages([...'abcdefg']),
          [[{ name: 'f1', file: 'node_modules/a/index.js', line: 1 }, INFLATE], 20],
          [[{ name: 'f1', file: 'node_modules/b/index.js', line: 1 }, INFLATE], 20],
          [[{ name: 'f1', file: 'node_modules/c/index.js', line: 1 }, INFLATE], 20],
        ],
      },
    ],
    sentence:
      'The work is spread: a 16 %, b 16 %, c 16 %, d 13 %; the largest function, inflate_fast of zlib, has 8 %.',
  },
  'code that a package compiles': {
    recordings: [
      {
        spans: [
          [[EJS, { name: '', text: 86, line: 3 }, { name: 'escape', text: 86, line: 1 }], 300],
          [[EJS, { name: '', text: 86, line: 3 }], 400],
          [[EJS, { name: '', text: 87, line: 3 }], 200],
          [`${MAIN} > handle app.js:3`, 100],
        ],
      },
    ],
    sentence:
      '40 % of the work is a function without a name of ejs (VM86:3, run by ejs.js), called by render.',
  },
  'packages of one scope with most of the work': {
    recordings: [{ spans: ofPackages(['@a/w', '@a/x', '@a/y', '@a/z', 'd', 'e', 'f', 'g']) }],
    sentence: '50 % of the work is in the @a packages.',
  },
  'hardly anything': { recordings: [{ spans: [[MAIN, 10]] }], sentence: undefined },
}

module.exports = { PROGRAMS, START_US }
