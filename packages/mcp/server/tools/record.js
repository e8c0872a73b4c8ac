'use strict'

// The tool `record`: runs a command, and says where its time went.

const { formatTime } = require('@org/cpu-prof/own-packages').format
const { costLists, readRun, threadList } = require('../overview.js')
const { text } = require('../inputs.js')
const { Refusal } = require('../root.js')

/** Seconds that a command may take. */
const SECONDS = { usual: 300, most: 3600 }
/** Words of a command, runs of one command. */
const MOST = { words: 256, runs: 20 }
/** A row with a smaller share of its table's time tells little. */
const MINOR = 0.02
/** Lines of output that are shown of a command that succeeded. */
const LINES_OF_SUCCESS = 5
/** Rows of the tables that come with a recording. */
const ROWS = { tables: 8, threads: 6 }

/** @type {import('./index.js').Tool} */
module.exports = {
  name: 'record',
  title: 'Record a command',
  description:
    'Runs a command and samples every Node.js process and thread under it (CPU profile), then says ' +
    'where the time went. Start here to find out why a build, test run or script is slow. The command ' +
    'runs as given, without a shell and without stdin; it should end by itself. At the time limit or ' +
    'on cancellation it gets SIGTERM, and what was recorded until then is kept. One recording at a time.',
  writes: true,
  input: (z) => ({
    command: z
      .array(z.string().max(32_768))
      .min(1)
      .max(MOST.words)
      .describe(
        'Program and arguments: ["npx", "tsc", "-p", "."]. For a shell: ["sh", "-c", "…"].',
      ),
    cwd: text(z).optional().describe('Folder in the project. Default: its root.'),
    timeoutSeconds: z.number().min(1).max(SECONDS.most).default(SECONDS.usual),
    repeat: z
      .number()
      .int()
      .min(1)
      .max(MOST.runs)
      .default(1)
      .describe(
        'Runs of the command. 4 or more before and after a change let compare know the noise.',
      ),
  }),
  async answer({ command, cwd = '.', timeoutSeconds, repeat }, call) {
    const { root, recorder } = call
    if (command[0] === '') throw new Refusal('the command is empty')
    if (command.some((/** @type {string} */ word) => word.includes('\0'))) {
      throw new Refusal('no program can get a word with a null character')
    }
    const started = performance.now()
    const recording = await recorder.record({
      command,
      repeat,
      cwd: root.folderFor(cwd),
      runs: root.runsFolder(),
      timeoutMs: timeoutSeconds * 1000,
      signal: call.signal,
      tell: call.tell,
    })
    const { folder, code, signal, hasTimedOut, output, words } = recording
    const tookMs = performance.now() - started
    const ending = endingOf({ code, signal, hasTimedOut, timeoutSeconds })
    const log = {
      key: 'output',
      title: 'the end of its output',
      isLog: true,
      rows: rowsOf(output, code),
    }
    const shared = {
      command: command.join(' '),
      exitCode: code,
      signal,
      timedOut: hasTimedOut || undefined,
    }
    if (folder === undefined) {
      return {
        facts: { recorded: false, ...shared },
        head: [`nothing was recorded; ${ending}`],
        lists: [log],
        notes: words,
      }
    }
    const { report, facts, head, chain, notes } = await readRun(root, { run: root.nameOf(folder) })
    const run = root.nameOf(folder)
    return {
      facts: { recorded: true, ...facts, run, runs: repeat > 1 ? repeat : undefined, ...shared },
      head: [...head, chain, `${ending} after ${formatTime(tookMs)}; recorded as ${run}`],
      lists: [
        ...costLists(report, undefined, root, ROWS.tables).map(withoutMinor),
        threadList(report, root, ROWS.threads),
        log,
      ],
      notes: [...words, ...notes],
      more: 'hotspots, function and code tell more about this run',
    }
  },
}

/** @param {{ code: number | null, signal: string | null, hasTimedOut: boolean, timeoutSeconds: number }} how */
function endingOf({ code, signal, hasTimedOut, timeoutSeconds }) {
  const how =
    signal === null ? `the command ended with ${code}` : `the command was ended by ${signal}`
  return hasTimedOut ? `${how}, because the limit of ${timeoutSeconds} s was reached,` : how
}

/** Leaves out what hardly took time: an agent that wants more asks for hot spots. @param {import('../answer.js').List} list */
function withoutMinor(list) {
  const rows = list.rows.filter(
    ({ data }, at) => at < 2 || /** @type {any} */ (data).share >= MINOR,
  )
  return { ...list, rows }
}

/** Returns the last lines of an output; hardly any of a command that succeeded. @param {string[]} lines @param {number | null} code */
function rowsOf(lines, code) {
  const full = lines.filter((line) => line !== '')
  const shown = code === 0 ? full.slice(-LINES_OF_SUCCESS) : full
  // Columns of a table for a screen are wide.
  return shown
    .map((line) => line.replace(/(\S) {3,}/g, '$1  '))
    .map((line) => ({ text: line, data: line }))
}
