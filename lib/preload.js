'use strict'

// Loads the addon, and records the thread that preloads the package.

// All that an armed thread needs is in this file: each file that a preload loads costs tenths of a
// millisecond. The preload's files call nothing outside of functions, since earlier preloads can have patched
// any global.

// Copied now, because the program can patch both before the microtask of `nameWorker()` runs.
const { getOwnPropertyDescriptor, setPrototypeOf } = Object

/** @typedef {import('./addon.js').Recorder} Recorder */

/** @typedef {import('./thread.js').Plan} Plan */
/** Loads `thread.js`, which leads to files that need this one. @typedef {() => typeof import('./thread.js')} LoadThread */

/** The version of the package, which is that of its addons. */
const VERSION = '0.1.0'

/** `code` of the error of an addon that cannot be used. The command line prints it without a stack trace. */
const UNUSABLE = 'ERR_CPU_PROF_ADDON'

/** The processors in the names of musl's loaders. @type {Record<string, string>} */
const PROCESSORS = { x64: 'x86_64', arm64: 'aarch64' }

/** Key of the mark of a thread, which is one for all copies of the package. */
const MARK = '@org/cpu-prof.recorded'

/** Node's own exit code for an invalid option. */
const INVALID_OPTION = 9

/**
 * Starts recording the calling thread. Wrong settings end the program. Any other failure is one line
 * on stderr, and the program runs unprofiled.
 * @param {LoadThread} loadThread
 */
function register(loadThread) {
  try {
    if (!markThread()) return
    refuseOtherRuntimes()
    const settingsAreValid = record(find('cpu-prof'), loadThread)
    if (!settingsAreValid) process.exit(INVALID_OPTION)
  } catch (error) {
    try {
      require('./preload/complain.js').complain(error)
    } catch {
      // stderr is closed.
    }
  }
}

/**
 * Marks the calling thread, and returns false if it was marked before. A second copy of the package
 * loads a second addon, which cannot see the first one's recording.
 */
function markThread() {
  if (isMarked()) return false
  const descriptor = { __proto__: null, value: true }
  Object.defineProperty(process, Symbol.for(MARK), /** @type {any} */ (descriptor))
  return true
}

/** Returns whether a preload has marked the calling thread: it is recorded or armed, or was to be. */
function isMarked() {
  return Symbol.for(MARK) in process
}

/**
 * Throws in the runtimes that load Node's addons without being Node. Bun aborts the program as soon as an
 * addon looks for the event loop, and Deno gives no samples.
 */
function refuseOtherRuntimes() {
  const { bun, deno } = process.versions
  if (bun === undefined && deno === undefined) return
  const name = bun === undefined ? 'Deno' : 'Bun'
  throw new Error(`cpu-prof: ${name} does not let an addon profile; run the program with Node.js`)
}

/**
 * Returns an addon built in this checkout, or else the one of the target's package. Throws an error for
 * the user if neither can be used.
 * @param {string} name @returns {any}
 */
function find(name) {
  const target = targetName()
  const addon = ofUsualPlace(`${name}.${target}.node`, target)
  if (addon?.cpuProfVersion?.() === VERSION) return addon
  const { search } = require('./search-addon.js')
  return search({ name, target, version: VERSION, code: UNUSABLE })
}

/**
 * Loads the file of this checkout, or that of a target's package beside this package, as `require()` does.
 * The look-ups of `require()` cost a millisecond, and 2 MB of Node's functions that V8 compiles for them.
 * Returns undefined if the file is in neither place or cannot be loaded: a search then says why.
 * @param {string} file @param {string} target
 */
function ofUsualPlace(file, target) {
  try {
    const { constructor: Module } = /** @type {any} */ (module)
    // jest has modules of its own.
    if (Module._cache !== require.cache) return undefined
    const { dirname, sep } = require('node:path')
    const { existsSync, realpathSync } = require('node:fs')
    const root = dirname(__dirname)
    let path = root + sep + file
    if (!existsSync(path)) {
      // Elsewhere a folder beside this package can be anybody's.
      if (!root.endsWith(`${sep}node_modules${sep}@org${sep}cpu-prof`)) return undefined
      const beside = `${root}-${target}${sep}${file}`
      if (!existsSync(beside)) return undefined
      // pnpm's folders of packages have links to packages. `require()` knows the file by its own path.
      path = realpathSync.native(beside)
    }
    const known = require.cache[path]
    if (known !== undefined) return known.exports
    const library = new Module(path, module)
    process.dlopen(library, path)
    library.filename = path
    library.loaded = true
    require.cache[path] = library
    return library.exports
  } catch {
    return undefined
  }
}

/** Returns the name of the system that this Node was built for. */
function targetName() {
  const { platform, arch } = process
  const name = `${platform}-${arch}`
  if (platform !== 'linux') return name
  return `${name}-${isMusl() ? 'musl' : 'gnu'}`
}

/**
 * Returns whether Node runs on musl. Few systems with glibc have musl's loader, so few programs pay for a
 * look into Node's executable.
 */
function isMusl() {
  const { arch, execPath } = process
  const loader = `/lib/ld-musl-${PROCESSORS[arch]}.so.1`
  try {
    if (!execPath.includes('musl') && !require('node:fs').existsSync(loader)) return false
    return require('./addon/interpreter.js').isMusl(execPath)
  } catch {
    // An earlier preload has patched what this needs.
    return false
  }
}

/** @param {Recorder} addon @param {LoadThread} loadThread @returns {boolean} false if the settings are wrong */
function record(addon, loadThread) {
  const { argv } = process
  const { length } = argv
  const thread = describeThread(addon)
  /** @template T @param {(beside: typeof import('./thread.js')) => T} use */
  const withThread = (use) => {
    try {
      return use(loadThread())
    } catch {
      // The package was removed meanwhile. The profile is recorded.
      return undefined
    }
  }
  /** @param {Plan} plan */
  const startInspector = (...plan) => {
    const reason = withThread(({ startInspector }) => startInspector(addon, plan))
    return reason === undefined ? 'the package was removed' : reason
  }
  const follow = () => withThread(({ follow }) => follow(addon))
  preparePush(addon)
  // While V8 records, a file takes twice as long to load.
  if (process.env.CPU_PROF_START === undefined) withThread(() => {})
  if (!addon.cpuProfRecord(thread, argv, startInspector, follow, calling)) return false
  if (addon.cpuProfIsRecording()) withThread(({ addEvents }) => addEvents(addon))
  if (thread.threadId !== 0) nameWorker(addon, argv, length)
  return true
}

/**
 * Calls a function; within a built-in function that C++ implements, if `isWithin`. The addon finds out by this how V8's
 * frames lie on the stack.
 * @param {any} call a function @param {boolean} [isWithin]
 */
function calling(call, isWithin) {
  if (isWithin) JSON.stringify({ toJSON: () => call() })
  else call()
}

/** Lets a process that sends its own profiles do so. @param {Recorder} addon */
function preparePush(addon) {
  if (process.env.CPU_PROF_PUSH) require('./preload/push.js').givePushLibrary(addon)
}

/** Returns the facts about the calling thread that only JavaScript knows. @param {Recorder} addon */
function describeThread(addon) {
  const { execArgv, version } = process
  // Loading `worker_threads` costs the main thread milliseconds, and its id there is always 0.
  if (addon.cpuProfIsMainThread()) {
    const thread = { threadId: 0, name: '', execArgv, version, lib: __dirname }
    return process.channel == null ? thread : require('./preload/cluster.js').withWorkerId(thread)
  }
  // Node has `threadName` from 22 on.
  const { threadId, threadName: name = '' } = /** @type {any} */ (require('node:worker_threads'))
  return { threadId, name, execArgv, version, lib: __dirname }
}

/**
 * Passes the worker's script to the addon. Node adds the script to argv after the preload. `await`
 * on null calls no `then` that a program can have patched.
 * @param {Recorder} addon @param {string[]} argv @param {number} length of argv during the preload
 */
async function nameWorker(addon, argv, length) {
  await null
  try {
    if (argv.length <= length) return
    const script = ownValue(argv, '1')
    if (typeof script === 'string') addon.cpuProfNameWorker(script)
  } catch {
    // The worker stays without this name.
  }
}

/**
 * Returns the value of a property, without calling a getter: the program's first lines have run.
 * @param {object} object @param {string} key
 */
function ownValue(object, key) {
  const descriptor = getOwnPropertyDescriptor(object, key)
  // A getter's descriptor has no value, and would inherit one from Object.prototype.
  return descriptor && setPrototypeOf(descriptor, null).value
}

module.exports = {
  register,
  isMarked,
  refuseOtherRuntimes,
  find,
  targetName,
  VERSION,
  UNUSABLE,
  describeThread,
  preparePush,
  calling,
}
