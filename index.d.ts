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
