/** Settings of a recording. What is not given here is taken from the environment. */
export interface Options {
  /** Where the files go; made if missing. `CPU_PROF_DIR`; the working directory, unless told. */
  dir?: string
  /**
   * The files' names, without extension: `%D` date, `%H` time, `%P` process id, `%T` thread id,
   * `%N` number within the process, `%%` a percent sign. `CPU_PROF_NAME`; `CPU.%D.%H.%P.%T.%N`.
   */
  name?: string
  /** Microseconds between two samples, 50 to 1000000. `CPU_PROF_INTERVAL`; 1000. */
  interval?: number
  /**
   * What is written: `.trace.json`, while the program runs, or `.cpuprofile`, at its end, or both.
   * `CPU_PROF_FORMAT`; `trace`.
   */
  format?: 'trace' | 'cpuprofile' | 'trace,cpuprofile'
  /**
   * Milliseconds between two writes, 10 to 60000. `CPU_PROF_FLUSH_INTERVAL`; 500, or 2000 with the
   * inspector.
   */
  flushInterval?: number
  /** How DevTools shows frames of `node_modules`. `CPU_PROF_IGNORE_LIST`; `auto`. */
  ignoreList?: 'auto' | 'keep' | 'show'
  /** Call-tree nodes that are remembered. `CPU_PROF_MAX_NODES`; 200000. */
  maxNodes?: number
  /**
   * Whether the workers that the thread creates from now on are recorded too, each into files of
   * its own. They are stopped with the thread's recording, which lists their files. True, unless
   * told.
   */
  workers?: boolean
  /**
   * Where samples come from: V8's own functions, or `node:inspector`, or whichever can be reached,
   * in this order. `CPU_PROF_SOURCE`; `auto`.
   */
  source?: 'auto' | 'v8' | 'inspector'
}

/** A recording that was stopped. */
export interface Recording {
  /** Absolute paths of its files, and of its workers', which are complete. */
  files: string[]
  /** Samples in them. */
  samples: number
  /** Call-tree nodes in them. */
  nodes: number
  /** From start to stop, milliseconds. */
  durationMs: number
  /** Samples that could not be written, on a full disk for instance. */
  droppedSamples: number
  /** `worker_threads.threadId` of the recorded thread. */
  threadId: number
  /** `process.pid` */
  pid: number
  /** Where the samples came from. */
  source: 'v8' | 'inspector'
}

/**
 * Starts recording the calling thread.
 * @throws {TypeError} for an unknown option, or one of a wrong type
 * @throws {RangeError} for a value that is not allowed, of an option or of a `CPU_PROF_*` variable
 * @throws {Error} if the thread is being recorded already, or cannot be
 */
export function start(options?: Options): void

/**
 * Stops recording the calling thread. Its files are complete when this returns.
 * @throws {Error} if the thread is not being recorded
 */
export function stop(): Recording

/**
 * Records the calling thread while `fn` runs, and while the promise that it may return is pending.
 * An error of the function's own is passed through, after the recording was stopped.
 */
export function profile<T>(
  fn: () => T,
  options?: Options,
): Promise<{ result: Awaited<T>; recording: Recording }>

/** Whether the calling thread is being recorded. */
export function isRecording(): boolean

/** How files are merged. */
export interface MergeOptions {
  /** Where the trace begins: milliseconds after the start of the earliest recording. */
  from?: number
  /** Where it ends. */
  to?: number
  /**
   * Whether it becomes several files of a size that DevTools takes, one after the other in time:
   * `trace.json` becomes `trace.1.json`, `trace.2.json` and so on, if one is not enough.
   */
  split?: boolean
  /** How the process ended that the others came from, for its metadata. */
  exit?: { pid: number; code?: number | null; signal?: string | null }
  /** Told now and then: bytes of the inputs that were read, and all of them. */
  onProgress?: (done: number, total: number) => void
}

/** What became of a merge. */
export interface MergeResult {
  /** The files that were written. */
  files: string[]
  /** The size of the largest of them, uncompressed. */
  bytes: number
  /** How many of the input files are in it. */
  inputs: number
  /** How many processes are in it. */
  processes: number
  /** How many threads are in it. */
  threads: number
  /** Files that were cut off or torn, and of which all that is whole was taken. */
  repaired: string[]
  /** Files that could not be read, and why. */
  failed: { file: string; reason: string }[]
  /** What else is worth knowing: a size that DevTools is slow at, pids that were renumbered, … */
  notes: string[]
}

/**
 * Merges recordings (traces, `.cpuprofile` files, any other Trace Event files, each of them also as
 * `.gz`, and folders of them) into one trace that DevTools shows well, off the main thread. Memory
 * does not grow with the recordings. The output is compressed if its name ends in `.gz`; its folder
 * is made if it is missing.
 * @throws {Error} if there is nothing that could be merged, or no file can be written; none is left then
 */
export function merge(
  inputs: string | string[],
  output: string,
  options?: MergeOptions,
): Promise<MergeResult>

/**
 * Where the time of one or many recordings went. Every `…Ms` is in milliseconds, with fractions.
 * The four times of {@link ReportTimes} add up to the recorded time. A sample's time is what passes
 * until the next one, as in DevTools.
 */
export interface Report {
  /** The shape of this object. It changes only with a field that changes or goes. */
  version: 1
  /** From the start of the first recording to the end of the last, by the clock on the wall. */
  durationMs: number
  /** Sums over all threads: they can be more than `durationMs`. */
  totals: ReportTimes
  /**
   * In the order of their starts. If recordings are of several machines, those of one after those
   * of another, and the times of each begin at 0.
   */
  processes: ReportProcess[]
  /**
   * By self time, most first: the first `top` by self time, and the first `top` by total time, each
   * once. `(idle)`, `(program)` and `(garbage collector)` are not among them, but in `totals`.
   */
  functions: ReportFunction[]
  /** Chosen and in order as `functions`. */
  files: ReportFile[]
  /** Chosen and in order as `functions`. */
  packages: ReportPackage[]
  /** How many functions, files and packages there are in all. */
  counts: { functions: number; files: number; packages: number }
  /** How many files are in it. */
  inputs: number
  /** Paths of the files that were torn or cut off, and are in the report but for what was lost. */
  repaired: string[]
  /** Files that are not in the report. */
  failed: { file: string; reason: string }[]
  /** What else should be known, a sentence each. */
  notes: string[]
}

/** What a thread does with its time. */
export interface ReportTimes {
  /** In functions: JavaScript, and native ones that it calls. */
  busyMs: number
  /** Waiting for something to do. */
  idleMs: number
  /** In V8's garbage collector, as far as it stops the thread. */
  gcMs: number
  /** In native code without a JavaScript function above it. */
  programMs: number
}

export interface ReportProcess {
  /** As it was when the process ran; 0 where it is not known, as for some `.cpuprofile`s. */
  pid: number
  /** The main script without its extension: `tsc`; if it lies within a package: `tinypool-process`. */
  name: string
  /** The name with the script's arguments, shortened: `tsc -p .`. */
  command: string
  /** Its working directory, absolute, where it is known. */
  cwd?: string
  /** Its parent's `pid`, where it is known. */
  parentPid?: number
  /** Its `process.version`, where it is known. */
  node?: string
  /** From the start of the first recording of all to that of its own first. */
  startMs: number
  /** From the start of its first recording to the end of its last. */
  durationMs: number
  /** The main thread first, the others by id. */
  threads: ReportThread[]
}

export interface ReportThread extends ReportTimes {
  /** `worker_threads.threadId`: 0 for the main thread. In traces of Chrome, the system's id. */
  threadId: number
  /** `main`, `worker 2: crunch.js`, or as the trace has it. */
  name: string
  /** From the start of the first recording of all to that of the thread's first. */
  startMs: number
  /**
   * From the start of its first recording to the end of its last: more than the sum of its times by
   * what lies before the first sample, and between two recordings.
   */
  durationMs: number
  /** How many samples were taken. */
  samples: number
}

/** Times of a function, a file or a package, over all threads. */
export interface ReportCost {
  /** On top of the stack. */
  selfMs: number
  /** Anywhere on the stack; recursion counts once. */
  totalMs: number
}

export interface ReportFunction extends ReportCost {
  /** `(anonymous)` where it has none. */
  name: string
  /**
   * An absolute path; `node:fs` for Node's own; else a URL or what V8 calls the script; empty for
   * native functions. To be shown relative to the working directory.
   */
  file: string
  /** Where the function begins: line, from 1; 0 where it has none. */
  line: number
  /** Column, from 1; 0 where it has none. */
  column: number
  /** See {@link ReportPackage.name}. */
  package: string
}

export interface ReportFile extends ReportCost {
  /** See {@link ReportFunction.file}. */
  file: string
  /** See {@link ReportPackage.name}. */
  package: string
}

export interface ReportPackage extends ReportCost {
  /**
   * `typescript`, `@babel/core`: the innermost `node_modules` of the path. `node:` for Node's own
   * code, `(native)` for functions without a script, `(own code)` for all other.
   */
  name: string
}

/** How a report is made. */
export interface ReportOptions {
  /** How many functions, files and packages by either time. 20; `Infinity` for all. */
  top?: number
  /** Leaves out what was before: milliseconds from the start of the first recording. */
  from?: number
  /** Leaves out what came after: milliseconds from the start of the first recording. */
  to?: number
}

/**
 * Computes where the time went, from traces and `.cpuprofile`s, and folders of them; plain or
 * gzipped, complete or torn.
 * @throws {Error} if nothing could be read
 */
export function report(inputs: string | string[], options?: ReportOptions): Promise<Report>

/**
 * Converts a trace or a `.cpuprofile`, plain or gzipped. What it becomes is told by the ending of
 * `output`:
 *
 * - `.json`: a trace for Chrome DevTools
 * - `.cpuprofile`: one file a thread; several get process id and thread id into their names
 * - `.collapsed`, `.folded`, `.txt`: a line a stack, for flame graphs; weights are microseconds
 * - `.speedscope.json`: speedscope's own format
 *
 * With `.gz` behind it, it is compressed. Its folder is made if it is missing.
 * @returns the absolute paths of the files written
 * @throws {Error} if the input cannot be read, or the output not be written; no file is left then
 */
export function convert(input: string, output: string): Promise<{ files: string[] }>
