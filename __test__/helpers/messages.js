'use strict'

// What messages say that several specs look for: each has its words here once, by the file that prints it.

/**
 * Makes a pattern of a template, which is written as between the slashes of `/…/`. Its values are plain text.
 * @param {TemplateStringsArray} parts @param {(string | number)[]} values
 */
function pattern(parts, ...values) {
  const plain = values.map((value) => String(value).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(String.raw(parts, ...plain))
}

const messages = {
  // src/core/base/error.rs, and notProfiling in lib/preload/complain.js too
  notProfiling: 'cpu-prof: not profiling this thread: ',
  notCreated: 'could not create',
  notWritten: 'could not write',
  goesOn: 'the recording goes on',
  manyLabels: "cpu-prof: some samples have the label '(too many)=true': ",
  runsOn: 'the program runs on unprofiled',

  // src/core/base/settings/
  needsTrace: 'it needs the format trace',

  // src/core/profile/met_condition.rs
  stoodStill: 'Recorded because the event loop had stood still for',

  // src/session/formats/trace/scan/error.rs
  notJson: 'not a JSON object',

  // packages/fleet/src/remote/
  hasTables: 'a lake has the tables',
  noRunInLake: 'there is no run in the lake',
  noAnswerInTime: 'did not answer in time',

  // packages/fleet/src/addon/tables/run_start.rs
  noStart: 'no recording tells when it was made',

  // src/tools/read/
  leftOut: (/** @type {string} */ what) =>
    `left out, because it is ${what} (name the file to read it)`,
  nothingMatches: 'nothing in the recordings matches',
  noProfile: 'no CPU profile',
  nothingRead: 'no file could be read',
  nothingToRead: 'there is no trace to read',
  sliceEnds: 'the slice ends before it starts',

  // src/tools/analysis/
  ofWork: 'of the work is',
  unnamedThreads: 'libuv pool or unnamed',
  toNativeThreads: 'of the CPU went to native threads',
  haveNoProfile: 'which have no profile',
  toPrograms: 'of the CPU went to programs',
  unrecordedNodes: 'Node processes without a recording',
  unrecordedWorkers: 'workers that were not recorded',

  // cli/attach/target.js and cli/control/
  noSuchProcess: (/** @type {number} */ pid) => `pid ${pid}: there is no such process`,
  noneArmedHas: (/** @type {string} */ words) => `no armed process has '${words}'`,
  ofAnotherUser: 'belongs to another user',
  asThatUser: 'run this as that user',

  // packages/fleet/base/
  noLake: 'no lake is named',
  commitUnknown: 'the commit is not known, so trend and blame cannot name it (--commit)',

  // cli/compare/compare.js and packages/fleet/lake/compare.js
  slower: 'slower than allowed',

  // packages/fleet/lake/ and packages/fleet/after-run.js
  noneChosen: 'no run of the lake is chosen',
  notAdded: 'not added to the lake',

  // cli/options.js and packages/fleet/commands/push.js
  useLength: 'Use a length such as 10s',
  keyAndValue: 'Use a key and a value',

  // cli/report/
  endOfRecording: 'the end of the recording',
  byOwner: 'by the work done for them',
  functionsBySelf: 'functions, by self time',
  functionsByTotal: 'functions, by total time',
  htmlIsFolder: (/** @type {string} */ output) =>
    `${output} is a folder; --html needs the name of a file`,
  noFunctionHas: (/** @type {string} */ words) => `no recorded function has '${words}' in its name`,
  noRun: 'there is no run in',
  noLabels: 'no sample has labels',
  notShown: 'code that is not shown',

  // cli/run/prepare/
  isRecording: 'is the name of a recording; choose another',
  nameFile: 'is a folder; name a file',

  // cli/run/watch/child.js
  notOnPath: (/** @type {string} */ program) => `${program} was not found on the PATH`,

  // cli/run/after/, cli/run/record.js and cli/record/folder.js
  noneRecorded: 'no Node process was recorded',
  notRecorded: (/** @type {number} */ missing, /** @type {number} */ all) =>
    `not recorded: ${missing} of ${all} Node process${all === 1 ? '' : 'es'}`,
  noNodeOptions: 'its environment has no NODE_OPTIONS; pass NODE_OPTIONS on',
  otherNodeOptions: 'its NODE_OPTIONS was replaced',
  noCause: 'the system does not tell the cause',
  outlives: 'a process outlives the command and is still recorded in',
  recordingsIn: 'the recordings are in',
  toMerge: (/** @type {string} */ folder) => `(to merge: cpu-prof merge ${folder} -o trace.json)`,
  toKeep: 'to keep its recordings: cpu-prof merge',
  toDrop: '-o trace.json; to drop it: rm -r',

  // cli/top/render.js
  haveEnded: 'the recordings have ended',

  // lib/addon/
  loadsNoAddons: 'this Node loads no native addons',
  notBuilt: 'is not built: npm run build',
  optionalLeftOut: 'the install left optional packages out',

  // lib/record.js and lib/labels.js
  startFirst: 'cpu-prof: this thread is not being recorded; call start() first',
  stopFirst: 'cpu-prof: this thread is being recorded already; call stop() first',
  takesFunction: 'takes a function, not',

  // lib/offline.js
  atLeastOnePath: 'must be a path, or an array of at least one path',
  milliseconds: 'must be a number of milliseconds',
}

module.exports = { messages, pattern }
