'use strict'

// Adds to the recording which project and which file TypeScript's compiler works on.

// No function of the compiler has a name for them, and its own marks name neither. So a debugger looks
// at two of its functions as they begin: a breakpoint's condition passes the names on, is never true,
// and so never stops the program. The compiler's code and its objects stay as they are.

// With a debugger, V8 runs WebAssembly several times as slowly. So there is none in a thread before it loads a
// compiler.

const { _cache: modules } = /** @type {any} */ (require('node:module'))

/** @typedef {import('../addon.js').Recorder} Recorder */

/** The compiler as TypeScript ships it: a bundle has no such functions. */
const COMPILER = /[\\/]typescript[\\/]lib[\\/](?:_tsc|tsc|typescript)\.js$/
/** Kinds of calls, which the conditions pass on. */
const PROJECT = 0
const BEGIN = 1
const END = 2

/** What the conditions call, in the compiler's global object. */
const HOOK = '@org/cpu-prof.typescript'

/** A longer path is left out. */
const MAX_PATH = 4096

/**
 * Observes the compiler in the calling thread, from the moment on at which it is loaded.
 * @param {Recorder} addon
 * @param {(modules: any, take: (module: unknown, file: string) => void) => () => void} watchAdditions
 * @returns {() => void} ends this
 */
function observe(addon, watchAdditions) {
  if (Object.keys(modules).some((file) => COMPILER.test(file))) return observeCompiler(addon)
  // A module is in Node's list before its code is compiled.
  let leave = watchAdditions(modules, (_, file) => {
    if (!COMPILER.test(file)) return
    leave()
    leave = () => {}
    leave = observeCompiler(addon)
  })
  return () => leave()
}

/**
 * Observes the compiler, which is loaded or about to be, in the calling thread.
 * @param {Recorder} addon
 * @returns {() => void} ends this
 */
function observeCompiler(addon) {
  const inspector = require('node:inspector')
  const { hrtime } = process
  const { stringify } = JSON
  const key = Symbol.for(HOOK)
  /** The file that is checked, and since when. @type {{ file: string, project: string, startUs: number } | undefined} */
  let open

  /** @param {number} kind @param {unknown} project @param {unknown} file @returns {false} never stops the program */
  function hook(kind, project, file) {
    try {
      const [seconds, nanoseconds] = hrtime()
      const nowUs = Math.round(seconds * 1e6 + nanoseconds / 1e3) - addon.cpuProfClockLead()
      if (kind === END) {
        if (open !== undefined) add(open, nowUs)
        open = undefined
      } else if (isPath(project)) {
        if (kind === PROJECT) add({ project, startUs: nowUs }, nowUs)
        open = kind === BEGIN && isPath(file) ? { file, project, startUs: nowUs } : undefined
      }
    } catch {
      // The program must not see an error of the profiler.
    }
    return false
  }

  /** @param {{ file?: string, project: string, startUs: number }} span @param {number} endUs */
  function add({ file, project, startUs }, endUs) {
    const [verb, what] = file === undefined ? ['project', project] : ['check', file]
    const name = `${verb} ${shortName(what)}`
    const properties =
      file === undefined
        ? [['project', project]]
        : [
            ['file', file],
            ['project', project],
          ]
    const track = 'TypeScript'
    const devtools = stringify({ dataType: 'track-entry', track, properties })
    const shown = { message: name, name, start: startUs, end: endUs, track, color: 'secondary' }
    const data = { ...shown, devtools, typescript: { startUs, endUs, project, file } }
    const event = { cat: 'devtools.timeline', name: 'TimeStamp', ph: 'I', args: { data } }
    addon.cpuProfEmit(stringify(event))
  }

  const session = new inspector.Session()
  session.connect()
  const descriptor = { __proto__: null, value: hook, configurable: true }
  Object.defineProperty(globalThis, key, /** @type {any} */ (descriptor))
  session.on('Debugger.scriptParsed', ({ params }) => {
    try {
      if (COMPILER.test(params.url)) watchScript(session, params.scriptId)
    } catch {
      // A later Node can refuse. The rest is recorded.
    }
  })
  // A `debugger` statement of the program would stop where it did not.
  session.post('Debugger.setSkipAllPauses', { skip: true })
  session.post('Debugger.enable', { maxScriptsCacheSize: 0 })
  return () => {
    session.disconnect()
    Reflect.deleteProperty(globalThis, key)
  }
}

/** Sets the breakpoints of a compiler's script. @param {import('node:inspector').Session} session @param {string} scriptId */
function watchScript(session, scriptId) {
  const hook = `globalThis[Symbol.for('${HOOK}')]?.`
  // `createProgram` takes an object with the options, or the names of files and the options.
  const options = '(Array.isArray(arguments[0]) ? arguments[1] : arguments[0]?.options)'
  for (const [name, begin, end] of [
    ['createProgram', `${hook}(${PROJECT}, ${options}?.configFilePath)`],
    [
      'checkSourceFile',
      `${hook}(${BEGIN}, compilerOptions.configFilePath, node.fileName)`,
      `${hook}(${END})`,
    ],
  ]) {
    const query = `function ${name}(`
    session.post('Debugger.searchInContent', { scriptId, query }, (error, found) => {
      for (const { lineNumber } of error ? [] : found.result) {
        const start = { scriptId, lineNumber: lineNumber + 1, columnNumber: 0 }
        const where = { start, restrictToFunction: true }
        session.post('Debugger.getPossibleBreakpoints', where, (error, found) => {
          const locations = /** @type {any} */ (error ? undefined : found)?.locations ?? []
          for (const [index, location] of locations.entries()) {
            if (index === 0) breakAt(session, location, begin)
            else if (end !== undefined && location.type === 'return')
              breakAt(session, location, end)
          }
        })
      }
    })
  }
}

/** @param {import('node:inspector').Session} session @param {import('node:inspector').Debugger.Location} location @param {string} condition */
function breakAt(session, location, condition) {
  const { scriptId, lineNumber, columnNumber } = location
  session.post('Debugger.setBreakpoint', {
    location: { scriptId, lineNumber, columnNumber },
    condition,
  })
}

/** @param {unknown} value @returns {value is string} */
const isPath = (value) => typeof value === 'string' && value !== '' && value.length <= MAX_PATH

/** Returns the last two parts of a path. @param {string} path */
const shortName = (path) => path.split(/[\\/]/).slice(-2).join('/')

module.exports = { observe }
