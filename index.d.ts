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
 * does not grow with the recordings. The output is compressed if its name ends in `.gz`.
 * @throws {Error} if there is nothing that could be merged, or no file can be written; none is left then
 */
export function merge(
  inputs: string | string[],
  output: string,
  options?: MergeOptions,
): Promise<MergeResult>
