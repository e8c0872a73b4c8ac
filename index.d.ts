/** Settings of a recording. The environment supplies the settings that are not given here. */
export interface Options {
  /**
   * Folder of the files, created if it is missing. Default: `CPU_PROF_DIR`, or else the folder of
   * Node's `--diagnostic-dir`, or else the working directory.
   */
  dir?: string
  /**
   * Names of the files, without extension: `%D` date, `%H` time, `%P` or `${pid}` process id, `%T`
   * thread id, `%N` number within the process, `%L` label, `%%` percent sign. A path counts from
   * `dir`, unless it is absolute. Default: `CPU_PROF_NAME`, or else `CPU.%D.%H.%P.%T.%N`.
   */
  name?: string
  /**
   * Microseconds between two samples, 1 to 1000000. Default: `CPU_PROF_INTERVAL`, or else 1000.
   */
  interval?: number
  /**
   * Formats of the files: `.trace.json` is written while the program runs, `.cpuprofile` when the
   * recording stops. Default: `CPU_PROF_FORMAT`, or else `trace`.
   */
  format?: 'trace' | 'cpuprofile' | 'trace,cpuprofile'
  /**
   * Milliseconds between two writes, 10 to 60000. Default: `CPU_PROF_FLUSH_INTERVAL`, or else 500,
   * or 2000 with the inspector.
   */
  flushInterval?: number
  /**
   * How DevTools shows frames of `node_modules`. `keep` leaves them to DevTools, which folds them.
   * `show` always shows them. `auto` shows them if the program itself is in `node_modules`.
   * Default: `CPU_PROF_IGNORE_LIST`, or else `auto`.
   */
  ignoreList?: 'auto' | 'keep' | 'show'
  /**
   * Call-tree nodes kept in memory, 1000 to 100000000. Default: `CPU_PROF_MAX_NODES`, or else
   * 200000.
   */
  maxNodes?: number
  /**
   * Kinds of events, separated by commas: `cpu`, which is always among them, `gc`, `memory`, `loop`,
   * `timings`, `processes`, `http`, `typescript`, `native`; after a plus sign, those beside the default:
   * `+http`. Default: `CPU_PROF_CATEGORIES`, or else `cpu,gc,memory,loop,timings,processes`.
   */
  categories?: string
  /**
   * Size of all files of a thread's recording, such as `'200M'` (`K`, `M` or `G`; from `64K`). The
   * recording continues in further files, and the oldest are removed. Only with the format `trace`.
   * Default: `CPU_PROF_MAX_SIZE`, or else no limit.
   */
  maxSize?: string
  /**
   * Age of the oldest part of a thread's recording that is kept, such as `'10m'` (`ms`, `s`, `m`, `h`, `d` or
   * `w`; from `1s`). The recording continues in further files, and a file is removed once its end is older. Only
   * with the format `trace`. Default: `CPU_PROF_KEEP`, or else all.
   */
  keep?: string
  /**
   * `'on'` records at once. `'off'` arms the thread: nothing is recorded until the recording is started
   * from outside, by the control socket of the process. Conditions such as `'stall>500ms,cpu>90%/10s'`, in
   * the main thread, arm the thread too, and start a recording of all armed threads when one is met; with
   * `keep`, the thread is recorded at once, and a condition keeps the history around it. Default: `'on'`,
   * whatever `CPU_PROF_START` is.
   */
  start?: string
  /**
   * Folder of the control socket of an armed process, an absolute path, or `'off'` for no socket. Default:
   * `CPU_PROF_SOCKET`, or else a folder of the user.
   */
  socket?: string
  /**
   * Length of a recording that a condition starts, `'100ms'` to `'1d'`. Default: `CPU_PROF_FOR`, or else `'30s'`.
   */
  for?: string
  /**
   * Shortest time from the end of such a recording to the next, `'100ms'` to `'1d'`. Default: `CPU_PROF_EVERY`, or
   * else `'10m'`.
   */
  every?: string
  /**
   * Number of such recordings that are kept: the files of the oldest are removed. Default:
   * `CPU_PROF_MAX_RECORDINGS`, or else 10.
   */
  maxRecordings?: number
  /**
   * Whether to record the workers that the thread creates from now on, each in files of its own.
   * They are stopped with the thread's recording, which lists their files. Default: true.
   */
  workers?: boolean
  /**
   * Your name for the recording, for example the test that is recorded. It is part of the thread's
   * name in DevTools and in reports (`main: parser: big file`), of the trace's metadata, and of file
   * names with `%L`. The workers of the recording have it too. An empty label counts as none.
   * Default: none.
   */
  label?: string
  /**
   * Source of the samples: V8's profiler, a walk over the stack (Linux on x64 with glibc), or `node:inspector`.
   * `auto` uses V8's profiler where all its functions can be found. Default: `CPU_PROF_SOURCE`, or else `auto`.
   */
  source?: 'auto' | 'v8' | 'walk' | 'inspector'
}

/** A stopped recording. */
export interface Recording {
  /** Absolute paths of the complete files of the recording and of its workers. */
  files: string[]
  /** Samples in the files. Those in files that `maxSize` or `keep` removed do not count. */
  samples: number
  /** Call-tree nodes in the files. Each file has its own call tree. */
  nodes: number
  /** Time from start to stop, milliseconds. */
  durationMs: number
  /** Samples that could not be written, for example because the disk was full. */
  droppedSamples: number
  /** Events of the program that could not be written, because they came too fast, or the disk was full. */
  droppedEvents: number
  /** `worker_threads.threadId` of the recorded thread. */
  threadId: number
  /** `process.pid`. */
  pid: number
  /** Source of the samples. */
  source: 'v8' | 'walk' | 'inspector'
}

/**
 * Starts recording the calling thread.
 * @throws {TypeError} for an unknown option or a value of the wrong type
 * @throws {RangeError} for an option or a `CPU_PROF_*` variable with a value that is not allowed
 * @throws {Error} if the thread is being recorded already, or cannot be recorded
 */
export function start(options?: Options): void

/**
 * Stops recording the calling thread. Its files are complete when this function returns.
 * @throws {Error} if the thread is not being recorded
 */
export function stop(): Recording

/**
 * Records the calling thread while `fn` runs, and while the promise that it may return is pending.
 * If `fn` throws or rejects, the recording is stopped and the error is passed on. If nothing can be recorded, a
 * line on stderr says why, and `fn` runs all the same: `recording` is null.
 * @throws {TypeError} @throws {RangeError} as `start()`, before `fn` runs
 * @throws {Error} if the thread is being recorded already, before `fn` runs
 */
export function profile<T>(
  fn: () => T,
  options?: Options,
): Promise<{ result: Awaited<T>; recording: Recording | null }>

/** Returns whether the calling thread is being recorded. */
export function isRecording(): boolean

/** How DevTools draws a span or an instant. */
export interface EventOptions {
  /** Track of its own; else the track 'Timings'. */
  track?: string
  /** Group of tracks. */
  group?: string
  /** Colour. */
  color?: EventColor
  /** Text at the mouse pointer. */
  tooltip?: string
  /** Rows of the details. */
  properties?: Record<string, string>
}

/** DevTools' colours of events. */
export type EventColor =
  | 'primary'
  | 'primary-light'
  | 'primary-dark'
  | 'secondary'
  | 'secondary-light'
  | 'secondary-dark'
  | 'tertiary'
  | 'tertiary-light'
  | 'tertiary-dark'
  | 'warning'
  | 'error'

/**
 * Adds an event of any phase of the Trace Event Format to the calling thread's recording. `pid`,
 * `tid`, `ts`, `cat`, `args` and the scope of an instant are filled in. Does nothing while the
 * thread is not being recorded.
 * @throws {TypeError} if the event is against the rules of its phase; the message names the field
 */
export function emit(event: TraceEvent): void

/**
 * Runs a function and adds its time to the recording, in DevTools' track 'Timings' or in `track`.
 * The time of a function that returns a promise ends when the promise is settled.
 * @returns what the function returns; instead of a promise, one that is settled in the same way
 */
export function span<T>(name: string, fn: () => T, options?: EventOptions): T

/** Adds a mark of this moment to the recording. */
export function instant(name: string, options?: EventOptions): void

/** Adds values over time to the recording, which Perfetto draws. */
export function counter(name: string, values: Record<string, number>): void

/**
 * Labels by their names: the route of a request, its tenant. Values are written as text; an empty text removes the
 * label.
 */
export type Labels = Record<string, string | number | boolean | undefined>

/**
 * Runs a function with labels, and returns its result. A label says which request, tenant or job the function was
 * working for. Each sample of the function has the labels, and so has all that it starts: code after an `await`,
 * timers, callbacks. Labels add up with the labels around the call, and take precedence.
 *
 * Of a set, 16 labels are kept, 64 characters of a name, 256 of a value. See docs/labels.md.
 * @throws {TypeError} for a value that is not a string, number, boolean or `undefined`, which is left out
 */
export function label<T>(labels: Labels, fn: () => T): T

/**
 * Adds labels to the rest of the current asynchronous context, as {@link label} does for a function.
 * @throws {TypeError} for a value that is not a string, number, boolean or `undefined`, which is left out
 */
export function setLabels(labels: Labels): void

/** The members that events of all phases have. */
interface TraceEventBase {
  /** Name. */
  name: string
  /** Categories, separated by commas. Default in `emit()`: `user`. */
  cat?: string
  /** Process id. Default in `emit()`: `process.pid`. */
  pid?: number
  /** Thread id. Default in `emit()`: Node's id of the calling thread. */
  tid?: number
  /** Time by the clock of `process.hrtime()`, microseconds. Default in `emit()`: now. */
  ts?: number
  /** CPU time of the thread, microseconds. */
  tts?: number
  /** Name of one of Chrome's colours. */
  cname?: string
  /** Further facts. */
  args?: Record<string, unknown>
}

/** A stack at the start of an event: the id of a frame in `stackFrames`, or the frames. */
interface StartStack {
  sf?: string | number
  stack?: string[]
}

/** A stack at the end of an event. */
interface EndStack {
  esf?: string | number
  estack?: string[]
}

/** The id of an event that is on no thread. */
type TraceEventId = { scope?: string; bind_id?: string | number } & (
  | { id: string | number }
  | { id2: { local: string | number } | { global: string | number } }
)

/** An event of the Trace Event Format, by its phase. */
export type TraceEvent =
  /** Start of a call on a thread. */
  | (TraceEventBase & StartStack & { ph: 'B' })
  /** End of the last call that has started. */
  | (Omit<TraceEventBase, 'name'> & { name?: string } & EndStack & { ph: 'E' })
  /** A call with its duration, microseconds. */
  | (TraceEventBase & StartStack & EndStack & { ph: 'X'; dur: number; tdur?: number })
  /** A moment: of the whole trace, a process or a thread. */
  | (TraceEventBase & StartStack & { ph: 'I' | 'i'; s?: 'g' | 'p' | 't' })
  /** Values over time. */
  | (TraceEventBase & { ph: 'C'; id?: string | number; args: Record<string, number> })
  /** Start, moment and end of work that is on no thread. */
  | (TraceEventBase & TraceEventId & { ph: 'b' | 'n' | 'e' })
  /** The same in the older form. */
  | (TraceEventBase & TraceEventId & { ph: 'S' | 'T' | 'p' | 'F' })
  /** Start, step and end of an arrow. */
  | (TraceEventBase & TraceEventId & { ph: 's' | 't' | 'f'; bp?: 'e' })
  /** Creation, contents and deletion of an object. */
  | (TraceEventBase & TraceEventId & { ph: 'N' | 'D' })
  | (TraceEventBase & TraceEventId & { ph: 'O'; args: { snapshot: unknown } })
  /** A name of a process or thread, or another fact. */
  | (TraceEventBase & { ph: 'M'; args: Record<string, unknown> })
  /** A dump of memory: of the whole trace, or of a process. */
  | (TraceEventBase & TraceEventId & { ph: 'V' | 'v' })
  /** A mark. */
  | (TraceEventBase & { ph: 'R' })
  /** A synchronization of clocks. */
  | (TraceEventBase & { ph: 'c'; args: { sync_id: string; issue_ts?: number } })
  /** Start and end of a context. */
  | (TraceEventBase & TraceEventId & { ph: '(' | ')' })
  /** A sample of a profiler. */
  | (TraceEventBase & StartStack & { ph: 'P'; id?: string | number })
  /** A link between two ids. */
  | (TraceEventBase & TraceEventId & { ph: '='; args: { linked_id: unknown } })

/** A `.cpuprofile`, as the DevTools protocol describes it. */
export interface CpuProfile {
  /** Nodes of the call tree; the first is the root. */
  nodes: {
    id: number
    callFrame: {
      functionName: string
      scriptId: string
      url: string
      /** From 0; -1 for none. */
      lineNumber: number
      /** From 0; -1 for none. */
      columnNumber: number
    }
    /** Count of samples on top. */
    hitCount?: number
    children?: number[]
    deoptReason?: string
    /** Samples by line; lines count from 1. */
    positionTicks?: { line: number; ticks: number }[]
  }[]
  /** Microseconds. */
  startTime: number
  /** Microseconds. */
  endTime: number
  /** Ids of nodes. */
  samples?: number[]
  /** Time before each sample, microseconds. */
  timeDeltas?: number[]
}

/**
 * What a tool reads of its inputs. Upper and lower case are equal. Of several texts of an option, one
 * is enough.
 */
export interface Selection {
  /**
   * Start of the slice: milliseconds after the start of the first recording. A negative number counts
   * from the end of the last recording: `-10000` is ten seconds before. If recordings come from
   * several machines, the machine with the most recordings counts.
   */
  from?: number
  /** End of the slice, counted as `from`. */
  to?: number
  /** Only processes with this text in their name or arguments, or with this process id. */
  process?: string | string[]
  /** Only threads with this text in their name (`main`, `worker 3: lint.js`), or with this thread id. */
  thread?: string | string[]
  /** Only stacks with a function of the package of this name: `typescript`, or `(own code)`. */
  package?: string | string[]
  /** Only stacks with a function that has this text in its name or in its `path:line`. */
  focus?: string | string[]
  /** No stacks with a function that has this text in its name or in its `path:line`. */
  ignore?: string | string[]
  /**
   * Only samples with this label: `route=/users/:id`. `route=` stands for samples without a label of the key. Of
   * several texts, one of each key is needed.
   */
  label?: string | string[]
  /**
   * Whether source maps give functions and lines their places in the original sources. Maps are
   * searched where the code names them, and beside the code. Default: `true`.
   */
  sourceMaps?: boolean
  /**
   * Folders with the symbols of native modules: files before they were stripped, or debug files. Only files of
   * the builds that were recorded count.
   */
  symbols?: string | string[]
}

/** Options of {@link merge}. */
export interface MergeOptions extends Selection {
  /**
   * Further inputs with names; the first argument can then be `[]`. The processes of an input have its
   * name in the trace: `{ client: 'profiles/a', server: ['b.json', 'c.json'] }`.
   */
  names?: Record<string, string | string[]>
  /**
   * Categories of other tools' events that go into the trace: `devtools.timeline`. Default: all.
   * Profiles and names always go into the trace.
   */
  categories?: string | string[]
  /**
   * Microseconds between two samples, to make the trace smaller. Of the functions in an interval, one
   * is kept, so that each function and line keeps its time over the whole.
   */
  interval?: number
  /** How the first process of a run ended, for the trace's metadata. */
  exit?: { pid: number; code?: number | null; signal?: string | null }
  /** Called several times a second with the bytes read so far and the bytes of all inputs. */
  onProgress?: (done: number, total: number) => void
}

/** The result of {@link merge}. */
export interface MergeResult {
  /** The trace: one file, in a list as in other results. */
  files: string[]
  /** Uncompressed size of the trace. */
  bytes: number
  /** Number of input files in the trace. */
  inputs: number
  /** Number of processes in the trace. */
  processes: number
  /** Number of threads in the trace. */
  threads: number
  /** Input files that were cut off, or whose damaged events were left out. The rest is in the trace. */
  repaired: string[]
  /** Input files that are not in the trace, and why. */
  failed: { file: string; reason: string }[]
  /** Other facts, a sentence each: for example a size that slows DevTools, or renumbered pids. */
  notes: string[]
}

/**
 * Merges recordings into one trace for DevTools, off the main thread. Reads traces, `.cpuprofile`
 * and pprof files, and Trace Event files of other programs, plain or as `.gz`, and folders of them. Memory does
 * not grow with the size of the recordings. The output is compressed if its name ends in `.gz`, and
 * its folder is created if it is missing.
 * @throws {Error} if nothing can be merged or the output cannot be written; then no file is left
 */
export function merge(
  inputs: string | string[],
  output: string,
  options?: MergeOptions,
): Promise<MergeResult>

/**
 * Where the time of recordings went. Every `…Ms` is in milliseconds, with fractions. The times of
 * {@link ReportTimes} add up to the recorded time. A sample's time is the time until the next
 * sample, as in DevTools.
 *
 * `cpu-prof report --json` prints this object. With `--by`, only one of the lists `processes`,
 * `functions`, `lines`, `files`, `packages`, `modules`, `owners`, `labels`, `scripts`, `projects` and
 * `imports` is in it.
 */
export interface Report {
  /** Version of this object's shape. It changes only if a field changes or is removed. */
  version: 2
  /**
   * Why the run took that long, chosen by rule from the numbers below; missing where no rule holds. The
   * names in it come from the program.
   */
  sentence?: string
  /**
   * The conditions of `CPU_PROF_START` that were met, in the order of their times: why the recordings exist.
   * Missing where none was met.
   */
  conditions?: ReportCondition[]
  /** Wall-clock time from the start of the first recording to the end of the last. */
  durationMs: number
  /** Sums over all threads, which can exceed `durationMs`. */
  totals: ReportTimes
  /**
   * The work in native code without any function on the stack, which V8 calls `(program)`: TLS, HTTP parsing, timers.
   * A part of the processes' `nativeMs`, without launchers. Missing if there is none.
   */
  programMs?: number
  /**
   * The wall time of the whole run, whatever the filter, by what had it. Missing for recordings without
   * the times of samples.
   */
  wall?: ReportWall
  /** What the end of the run waited for, from the start on. */
  chain: ReportChainPart[]
  /**
   * Processes in the order of their starts. If the recordings come from several machines, the
   * processes of one machine follow another's, and the times of each machine begin at 0.
   */
  processes: ReportProcess[]
  /**
   * The first `top` functions by self, total, blocked and critical time, each once, sorted by self
   * time, without launchers. `(idle)`, `(program)` and `(garbage collector)` are only in `totals`.
   */
  functions: ReportFunction[]
  /**
   * The first `top` lines by self time. Samples whose lines are unknown have the line 0 of their
   * function.
   */
  lines: ReportLine[]
  /** Files, selected and sorted as `functions`. */
  files: ReportFile[]
  /** Packages, selected and sorted as `functions`. */
  packages: ReportPackage[]
  /** Modules of native functions, selected and sorted as `functions`. Missing if there are none. */
  modules?: ReportModule[]
  /** Rules, plugins, tests, packages and own code, by the work done for them. */
  owners: ReportOwner[]
  /**
   * The first `top` labels by the work done for them, by {@link ReportOptions.by}: whole sets, or the values of one
   * key. Empty if no sample has labels.
   */
  labels: ReportLabel[]
  /** The key that `labels` are the values of; missing for whole sets. */
  labelKey?: string
  /** All keys of labels: `route` and `http` first, then by the work that has the label. */
  labelKeys: string[]
  /**
   * Scripts of npm, pnpm and yarn and targets of nx and turbo, by the work of the processes below.
   * A process works for the nearest script above.
   */
  scripts: ReportScript[]
  /**
   * The functions that {@link ReportOptions.function} names, the one with the most time first; or as
   * many as {@link ReportOptions.details} says.
   */
  details?: ReportDetail[]
  /** The call tree without branches of less than 0.5 % of the work, with {@link ReportOptions.tree}. */
  tree?: ReportTreeNode[]
  /**
   * The modules by the time of loading them, with {@link ReportOptions.imports}. Modules of less than
   * 0.2 % of that time are left out.
   */
  imports?: ReportImport[]
  /** The projects with the most work first, with {@link ReportOptions.projects}. */
  projects?: ReportProject[]
  /** The longest times without a turn of the event loop, with {@link ReportOptions.stalls}. */
  stalls?: ReportStall[]
  /** Number of all functions, lines, files and packages. */
  counts: { functions: number; lines: number; files: number; packages: number }
  /** Number of input files in the report. */
  inputs: number
  /** Input files that were cut off, or whose damaged events were left out. The rest is in the report. */
  repaired: string[]
  /** Input files that are not in the report, and why. */
  failed: { file: string; reason: string }[]
  /** Other facts, a sentence each. */
  notes: string[]
}

/** Time of a thread by its state. */
export interface ReportTimes {
  /** In functions of scripts. */
  javascriptMs: number
  /** In native functions (`JSON.parse`, a regular expression), and in native code that no function called. */
  nativeMs: number
  /** In V8's garbage collector, while it stopped the thread. */
  gcMs: number
  /**
   * Ready to run while other threads had the cores, or in a stopped process (SIGSTOP). By the system's
   * count, so missing for recordings without that count (`.cpuprofile`, macOS, Windows), where a thread
   * that waits for a core seems to work.
   */
  waitingMs?: number
  /**
   * In calls that neither ran nor were ready to run: `spawnSync`, `Atomics.wait`, synchronous input
   * and output. Missing as `waitingMs` is: there, such calls seem to work.
   */
  blockedMs?: number
  /** In the event loop with nothing to do, or in a worker of a pool that has no task. */
  idleMs: number
}

/**
 * The wall time of a run by what had it; the times add up to `durationMs`, of recordings from several
 * machines to the sum over the machines. Threads that work, or wait for
 * a core, at the same time share that time equally.
 */
export interface ReportWall {
  /** Of threads that worked. */
  workMs: number
  /** Of threads that waited for a core. */
  waitingMs: number
  /** Of threads that were blocked in calls while no thread worked. */
  blockedMs: number
  /** Without a thread that worked or was blocked. */
  idleMs: number
}

/** A condition of `CPU_PROF_START` that was met. */
export interface ReportCondition {
  /** Process in which the condition was met. */
  pid: number
  /** Time from the start of the first recording. */
  atMs: number
  /** The condition, as in the setting: `stall>500ms`. */
  reason: string
  /** What was measured, with its unit: `612 ms`. */
  observed: string
  /** Whether the process was recorded already, and the files around the time were kept. */
  kept: boolean
  /** The same as a sentence. */
  sentence: string
}

/** A part of what the end of a run waited for. */
export interface ReportChainPart {
  /** Name of the process, with its folder if that is another than the first process's; missing for idle time. */
  label?: string
  /**
   * What the process did, where the recording has that: a time that the program measured, a project that
   * `tsc -b` built, a phase of TypeScript's compiler, a test file, `start-up`, or workers. A text of at most
   * 80 characters, which can come from the program.
   */
  phase?: string
  /** Length of the part. */
  ms: number
  /** The part of the length in which no thread of the process worked or was blocked. */
  idleMs: number
  /** Number of processes that the part stands for. */
  processes: number
}

/** Threads of one name, which run no JavaScript. */
export interface ReportNative {
  /**
   * What they do: `libuv pool`, `V8's workers`, `workers that were not recorded`, `libvips`, `tokio`,
   * `profiler`; otherwise the system's name for them, without the number at its end.
   */
  name: string
  /** The most of them that worked within half a second. */
  threads: number
  /** Their CPU time, milliseconds. */
  cpuMs: number
  /**
   * What gave them their work, the most often sampled first, three at most. Missing if nothing was sampled
   * that could, or if more than one thing could: all entries have the same `what`.
   */
  startedBy?: ReportStarter[]
}

/** What gave work to native threads. */
export interface ReportStarter {
  /** A function or module of Node: `crypto.pbkdf2`, `zlib`, `fs`; or the package of an addon: `sharp`. */
  what: string
  /** The function that called it, if one was sampled above it. */
  place?: ReportPlace
}

/** CPU time of a process, by the system's count. */
export interface ReportCpu {
  /** Of the recorded threads. */
  javascriptMs: number
  /** Of all other threads: of native addons, of libuv's pool, of V8's compiler and collector. */
  nativeMs: number
  /**
   * Of other programs that the process has started, without its recorded children, once they have
   * ended; Node processes without a recording are among them. Unknown for a slice.
   */
  othersMs?: number
}

/** Node processes without a recording. */
export interface ReportUnrecorded {
  /** Their number. */
  processes: number
  /**
   * Their part of {@link ReportCpu.othersMs}, as far as they have ended. Missing where the system does not report
   * the CPU time of other processes, and for a slice.
   */
  cpuMs?: number
}

export interface ReportProcess {
  /** The original process id; 0 if it is unknown, as for some `.cpuprofile` files. */
  pid: number
  /**
   * The main script: `strip.ts`, `dist/main.js`. A command of a package is without its extension:
   * `tsc`. Another script inside a package gets the package's name: `tinypool-process`.
   */
  name: string
  /** The name with the script's arguments, shortened: `tsc -p .`. */
  command: string
  /** The working directory, absolute, if it is known. On Windows with slashes, as a file. */
  cwd?: string
  /** `pid` of the parent process, if it is known. */
  parentPid?: number
  /** `process.version`, if it is known. */
  node?: string
  /** CPU times, if the recording has them. */
  cpu?: ReportCpu
  /**
   * The threads that run no JavaScript, by their names, the most CPU time first. Missing if the system does
   * not report them, or if they did next to nothing. {@link ReportCpu.nativeMs} also has threads that ended
   * between two readings.
   */
  native?: ReportNative[]
  /**
   * The Node processes under it that have no recording, if `cpu-prof run` saw any. The nearest recorded process
   * above has them.
   */
  unrecorded?: ReportUnrecorded
  /**
   * Whether the process only started another recorded process, as `npm run` does. The lists of
   * functions, lines, files and packages are without launchers.
   */
  launcher: boolean
  /** Name of the signal that ended the process, if one did and that is known. */
  signal?: string
  /**
   * The label sets that the process worked for in the last half second of its recording, the oldest first, if a
   * signal ended the process or the recording has no end. Missing if no sample there has labels.
   */
  inFlight?: ReportInFlight[]
  /** Time from the start of the first recording of all to the start of the process's first. */
  startMs: number
  /** Time from the start of the process's first recording to the end of its last. */
  durationMs: number
  /** The main thread, followed by the others in the order of their ids. */
  threads: ReportThread[]
}

export interface ReportThread extends ReportTimes {
  /** `worker_threads.threadId`: 0 for the main thread. In traces of Chrome, the system's id. */
  threadId: number
  /**
   * `main`, `worker 2: crunch.js`, or the name in the trace. With a label: `main: parser: big file`.
   */
  name: string
  /** The label that all recordings of the thread have, on one line of at most 80 characters. */
  label?: string
  /** Time from the start of the first recording of all to the start of the thread's first. */
  startMs: number
  /**
   * Time from the start of the thread's first recording to the end of its last. It exceeds the sum
   * of the times by the time before the first sample and between two recordings.
   */
  durationMs: number
  /** CPU time by the system's count, if the recording has it. */
  cpuMs?: number
  /** Time of being ready to run and waiting for a core, if the recording has it. */
  coreWaitMs?: number
  /** Garbage collections, if the recording has any. */
  collections?: ReportCollections
  /** Memory, if the recording has it. */
  memory?: ReportMemory
  /**
   * The file outside of packages with the most time on the stack, of those that the fewest threads of
   * the same name share: what a thread of a pool worked on.
   */
  ownFile?: string
  /** Number of samples. */
  samples: number
}

/** Garbage collections of a thread. */
export interface ReportCollections {
  /** Count of collections of young objects. */
  minor: number
  /** Count of collections of the whole heap. */
  major: number
  /** Duration of all collections. */
  totalMs: number
  /** Duration of the longest collection. */
  longestMs: number
}

/** Memory of a thread and its process at the flushes of the recording, bytes. */
export interface ReportMemory {
  /** The most that objects on the heap used. */
  heapPeak: number
  /** Used heap at the end, less that at the start. */
  heapGrowth: number
  /** The most memory outside of the heap that objects kept alive, such as buffers. */
  externalPeak: number
  /** The most resident memory of the process. Only a main thread has this value and the next. */
  rssPeak?: number
  /** Resident memory at the end, less that at the start. */
  rssGrowth?: number
}

/** Labels by their keys. */
export type ReportLabels = Record<string, string>

/** The work done for a label set, or for a value of a key. */
export interface ReportLabel extends ReportCost {
  /** `route=/users/:id · tenant=t1`; of one key, the value; `(no labels)` or `(no route)` for the rest of the work. */
  name: string
  /** The set, or the one label; without members for the rest of the work. */
  labels: ReportLabels
  /** The function with the most of the work, with the time of Node's and native functions that it called. */
  hottest?: ReportPlace & { selfMs: number }
}

/** A label set at the end of a killed process. */
export interface ReportInFlight {
  /** `route=/users/:id · tenant=t1` */
  name: string
  labels: ReportLabels
  /**
   * Time from the first sample with the set to the end of the recording. Half a second without such a sample ends
   * what came before.
   */
  ms: number
}

/** Times of a function, a file, a package or an owner, over all threads. */
export interface ReportCost {
  /** Time on top of the stack. */
  selfMs: number
  /** Time anywhere on the stack; recursion counts once. */
  totalMs: number
  /** Time on top of the stack in which the thread was blocked; neither self time nor total time; 0 without the system's count. */
  blockedMs: number
  /** The same for time in which the thread waited for a core. */
  waitingMs: number
  /**
   * Part of the run's wall time: time on top of the stack, divided by the number of threads that worked or
   * waited for a core at that moment; and time of blocked calls while no thread worked.
   */
  criticalMs: number
}

/** The name and the place of a function. */
export interface ReportPlace {
  /**
   * The function's name; `callback of test('adds')` for a function of own code without a name that is
   * passed to a call; or `(anonymous)`.
   */
  name: string
  /**
   * The absolute path of the script, or `node:fs` for Node's own; otherwise a URL or V8's name for
   * the script. Empty for native functions. Code that `eval`, `new Function` or `vm` compiled has the file that
   * calls it most, as `/repo/a.js (eval)`. A path of Windows has slashes and a capital drive on every
   * system: `C:/repo/a.js`, `//server/share/a.js`.
   */
  file: string
  /** Line of the function's start, from 1; 0 if it has none. */
  line: number
  /** Column of the function's start, from 1; 0 if it has none. */
  column: number
  /**
   * `true` if line and column do not match the file: a transpiler changed the code in memory, and no
   * source map was found.
   */
  transpiled?: true
  /** V8's id of the script, for code that was compiled from a text: line and column count in the text. */
  scriptId?: number
  /**
   * Line of the file at which the text was compiled, from 1. Missing where the recording does not have it: the file
   * is then the one that calls the text most of the time.
   */
  compiledAt?: number
  /** See {@link ReportPackage.name}. */
  package: string
}

export interface ReportFunction extends ReportPlace, ReportCost {
  /** See {@link ReportFile.trunk}. */
  trunk: boolean
  /**
   * Built-in functions that V8 has no frames for: `JSON.parse`, `JSON.stringify`, `structuredClone` and
   * `.sort`, the most time first. Missing if no line calls one.
   */
  builtIns?: ReportBuiltIn[]
}

/** A built-in function without a frame. */
export interface ReportBuiltIn {
  name: string
  /**
   * Self time of the lines that call it and no other of its kind, by the text of the file: derived, and
   * with what else the lines do. Not known for a file that has changed.
   */
  selfMs: number
}

/** A function that {@link ReportOptions.function} names. */
export interface ReportDetail extends ReportPlace {
  /** Time with the function on top of the stack. */
  selfMs: number
  /** Time with the function anywhere on the stack. */
  totalMs: number
  /** Functions that call it, with the time of their calls; without a name, the event loop. */
  callers: ReportCall[]
  /** Functions that it calls, with the time of the calls. A call of itself is none. */
  callees: ReportCall[]
  /** Its lines by self time. */
  lines: ReportLine[]
  /** Processes in which it ran, by total time. */
  processes: { pid: number; name: string; selfMs: number; totalMs: number }[]
}

/** Calls of one function by another. */
export interface ReportCall extends Partial<ReportPlace> {
  /** Time of the calls. */
  totalMs: number
}

/** A function on a path of the call tree. */
export interface ReportTreeNode extends ReportPlace {
  /** Time with this path as the whole stack. */
  selfMs: number
  /** Time with this path as the stack, or as its lower part. */
  totalMs: number
  /** Functions that it calls on this path, the one with the most time first. */
  children: ReportTreeNode[]
}

/** A time in which a thread did not come back to its event loop: from one idle time to the next. */
export interface ReportStall {
  /** See {@link ReportProcess.pid}. */
  pid: number
  /** See {@link ReportProcess.command}. */
  process: string
  /** See {@link ReportThread.threadId}. */
  threadId: number
  /** See {@link ReportThread.name}. */
  thread: string
  /** Time from the start of the first recording of all. */
  startMs: number
  /** Length, up to the end of the recording if the thread never came back. */
  durationMs: number
  /** Its part in the garbage collector. */
  gcMs: number
  /** Its part in which the thread was blocked in a call. */
  blockedMs: number
  /** Its part in which the thread waited for a core. */
  waitingMs: number
  /** Whether the recording began with it: the main script or the worker's script ran, for example. */
  first: boolean
  /** The functions that were on the stack for more than half of it, the outermost first. */
  stack: ReportStallFrame[]
}

/** A function on the stack of a {@link ReportStall}. */
export interface ReportStallFrame extends ReportPlace {
  /** Its time on the stack, as part of the stall. */
  totalMs: number
}

/** A module, loaded by the module above. */
export interface ReportImport {
  /** Path of the module; empty for the loader of ES modules, whose time is not shared out. */
  file: string
  /** See {@link ReportPackage.name}. */
  package: string
  /**
   * Time of finding, reading and compiling the module. A sampled profile names the module by the code
   * that ran next, so a module without a sample is part of the module that loaded it.
   */
  loadMs: number
  /** Time of the module's own code at the top level, with what that calls, without other modules. */
  runMs: number
  /** `loadMs` and `runMs` of the module and of all that it loads. */
  totalMs: number
  /** The modules that it loads, the longest first. */
  children: ReportImport[]
}

/** A line of a function, over all threads. */
export interface ReportLine {
  /** Name of the function that contains the line, or `(anonymous)`. */
  name: string
  /** See {@link ReportFunction.file}. */
  file: string
  /** Line, from 1; 0 if it is unknown. */
  line: number
  /** See {@link ReportFunction.transpiled}. */
  transpiled?: true
  /** See {@link ReportFunction.scriptId}. */
  scriptId?: number
  /** See {@link ReportPackage.name}. */
  package: string
  /** Time with the line on top of the stack. */
  selfMs: number
  /** Number of samples that the time comes from. */
  samples: number
}

export interface ReportFile extends ReportCost {
  /** See {@link ReportFunction.file}. */
  file: string
  /** See {@link ReportPackage.name}. */
  package: string
  /**
   * Whether nearly all of the total time is under one other entry, which has hardly any time
   * elsewhere. Both entries say the same, and the other one is nearer to the work.
   */
  trunk: boolean
}

export interface ReportModule extends ReportCost {
  /**
   * `libc`, `better_sqlite3`, `libvips-cpp`: a library or an addon; or a library in the executable: `v8`, `libuv`,
   * `openssl`, and `node` for the rest.
   */
  name: string
}

export interface ReportPackage extends ReportCost {
  /**
   * `typescript`, `@babel/core`: the package in the innermost `node_modules` of the path. `node:`
   * for Node's own code, `(native)` for functions without a script, `(own code)` for all others.
   */
  name: string
}

/**
 * The part of a program that work is done for. Work counts for the nearest rule, plugin, test or test
 * file that called it, whichever package did it; without one, for the nearest package or for own code. So
 * the `selfMs` of all owners add up to the busy time.
 */
export interface ReportOwner extends ReportCost {
  /**
   * `rule`: a rule of ESLint or Stylelint. `plugin`, `loader` (of webpack) and `transform` (of Jest): what
   * a tool has called as one. `test file`: a file named `*.test.*` or `*.spec.*`, or in `__tests__`.
   * `test`: a callback of `test('…')`, `it('…')` or `specify('…')` in such a file.
   */
  kind: 'rule' | 'plugin' | 'loader' | 'transform' | 'test' | 'test file' | 'package' | 'own code'
  /**
   * `react/jsx-key`, `vite-plugin-svgr`, `prettier/plugins/babel`, an absolute path (of a plugin or a
   * rule in own code, of a test file, and of a test, followed by ` › ` and its title), `typescript`, or
   * `(own code)`.
   */
  name: string
}

/** A script that processes were run by, in one folder. */
export interface ReportScript {
  /** Name of the script or target: `lint`. */
  name: string
  /** Working directory of the process that the script started, if it is known. */
  cwd?: string
  /** Number of recorded processes that worked for the script. */
  processes: number
  /** Busy, garbage-collector and program time of all their threads. */
  totalMs: number
}

/** A project: what TypeScript's compiler builds, or a package of a repository. */
export interface ReportProject {
  /**
   * Its folder, or its tsconfig file if that has another name: with the category `typescript`, of the
   * project that TypeScript's compiler worked on. Otherwise what `-p` or `-b` of the compiler names, or
   * else the nearest folder with a `package.json` or `project.json` around the working directory;
   * the working directory without one; empty if that is not known.
   */
  path: string
  /** Number of recorded processes that worked on it. */
  processes: number
  /** Work of their threads: in JavaScript, in native code and in collections. */
  totalMs: number
  /**
   * CPU time of these processes and of the programs that they started. Missing if it is not known, or
   * if a process worked on several projects.
   */
  cpuMs?: number
  /**
   * The work of TypeScript's compiler by phase: `resolve modules`, `parse`, `bind`, `check`, `emit`, and
   * `other`. Empty without this compiler, and for its native versions (7 and later).
   */
  phases: ReportPart[]
  /** The phase `check` by what is checked: `calls`, `type references`. */
  constructs: ReportPart[]
  /** The files that were checked, up to `top`; with the category `typescript` alone. */
  files: ReportCheckedFile[]
}

/** A part of the work of a compiler. */
export interface ReportPart {
  name: string
  totalMs: number
}

/** A file that TypeScript's compiler checked. */
export interface ReportCheckedFile {
  /** Absolute path. */
  file: string
  /**
   * Work of the check. A type that several files ask for is paid for by the first; so are the types of
   * libraries.
   */
  totalMs: number
  /** The check by what is checked. */
  constructs: ReportPart[]
}

/** Options of {@link report}. */
export interface ReportOptions extends Selection {
  /**
   * Folder below which sources, source maps and symbols are read, whatever other files a recording names; a link
   * counts as its target. Default: everywhere.
   */
  sourcesIn?: string
  /**
   * Number of functions, files and packages by either time, and of lines; `Infinity` for all.
   * Default: 20.
   */
  top?: number
  /**
   * Adds the callers, callees, lines and processes of a function to `details`. The text is its name, or
   * a part of its name or of its `path:line`. Up to three functions match.
   */
  function?: string
  /**
   * Number of functions with the most self time that the report has in `details`, 0 to 100, unless
   * `function` is given. Default: 0.
   */
  details?: number
  /** Whether the report has the call tree of all threads in `tree`. Default: `false`. */
  tree?: boolean
  /** Whether the report has the modules in `imports`, by the time of loading them. Default: `false`. */
  imports?: boolean
  /** Whether the report has the projects in `projects`, and what TypeScript did in each. Default: `false`. */
  projects?: boolean
  /**
   * What the rows of `labels` are: whole sets, or the values of a key. Default: the first of `labelKeys`.
   */
  by?: 'label' | `label:${string}`
  /**
   * The shortest time without a turn of the event loop that the report has in `stalls`, milliseconds.
   * `top` limits their number.
   */
  stalls?: number
}

/**
 * Computes where the time went. Reads traces, `.cpuprofile` and pprof files, plain or as `.gz`, complete
 * or torn, and folders of them.
 * @throws {Error} if nothing can be read
 */
export function report(inputs: string | string[], options?: ReportOptions): Promise<Report>

/** Options of {@link convert}. */
export type ConvertOptions = Selection

/** The result of {@link convert}. */
export interface ConvertResult {
  /** Absolute paths of the files written. */
  files: string[]
  /** Input files that were cut off, or whose damaged events were left out. The rest was converted. */
  repaired: string[]
  /** Input files that were not converted, and why. */
  failed: { file: string; reason: string }[]
  /** Other facts, a sentence each. */
  notes: string[]
}

/**
 * Converts traces, `.cpuprofile` and pprof files, plain or as `.gz`, and folders of them. The ending of `output`
 * selects the format, as `cpu-prof convert --help` and docs/commands/convert.md list them. Of `.cpuprofile`, each
 * thread gets a file; with several threads, each name gets process id and thread id. Another `.gz` at the end
 * compresses the output. Its folder is created if it is missing.
 * @throws {Error} if no input can be read or the output cannot be written; then no file is left
 */
export function convert(
  inputs: string | string[],
  output: string,
  options?: ConvertOptions,
): Promise<ConvertResult>

/** The problems of files. `cpu-prof check --json` prints this object. */
export interface Check {
  /** Version of this object's shape. */
  version: 1
  /** The files, in the order of the inputs; within a folder by name. */
  files: FileCheck[]
  /** Paths that could not be read, and why. */
  failed: { file: string; reason: string }[]
}

/** The problems of a file. */
export interface FileCheck {
  /** Path, as it was given or found. */
  file: string
  /** What the file is; missing if it is neither. */
  kind?: 'trace' | 'cpuprofile'
  /** Whether tools can load the file: no problem is `fatal`. */
  loads: boolean
  /** Number of trace events. */
  events: number
  /** Number of CPU profiles. */
  profiles: number
  /** Number of samples. */
  samples: number
  /** Problems in the order of the file. */
  problems: Problem[]
}

/** What is wrong with a file. */
export interface Problem {
  /**
   * `fatal`: no tool can load the file. `error`: a part is not shown, or is shown wrongly. `warning`:
   * against the rules of the format, or a tool leaves something out.
   */
  severity: 'fatal' | 'error' | 'warning'
  /** Line of the event in the file, from 1; 0 for the file as a whole. */
  line: number
  /** Path of the field within the event: `args.data.samples`. */
  field?: string
  /** The problem in a sentence. */
  message: string
  /** Number of further problems of this kind: the first five are listed. */
  more?: number
}

/**
 * Lists what is wrong with traces and `.cpuprofile` files of any tool, plain or as `.gz`, and folders
 * of them. Each file passes through in pieces.
 */
export function check(inputs: string | string[]): Promise<Check>

/** A comparison of two sets of runs. */
export interface Comparison {
  /** Version of this object's shape. */
  version: 1
  /** The runs of the base. */
  base: ComparedSide
  /** The runs of the head. */
  head: ComparedSide
  /**
   * How the noise was found: from the spread between the runs, or, with too few runs for that, by an
   * assumed spread and the error of sampling.
   */
  noise: 'measured' | 'assumed'
  /** The rows that were tested: by kind, changes first, then by the size of the difference. */
  rows: ComparedRow[]
  /** The rules of `failOn`, in their order. */
  rules: ComparedRule[]
  /** Input files that were cut off, or whose damaged events were left out. The rest was compared. */
  repaired: string[]
  /** Paths that could not be read, and why. */
  failed: { file: string; reason: string }[]
  /** Remarks, a sentence each. */
  notes: string[]
}

/** One side of a comparison. */
export interface ComparedSide {
  /** Number of runs. */
  runs: number
  /** Number of files that were read. */
  inputs: number
}

/** One measure of something that both sides have, or one of them. */
export interface ComparedRow {
  /** What is measured. A `total` is the whole run. */
  kind: 'total' | 'process' | 'owner' | 'label' | 'package' | 'file' | 'function'
  /** Kind of an owner, as in `ReportOwner`. */
  owner?: ReportOwner['kind']
  /** Name; missing for a `total`. A process has its command, a file its path, and a label its key: `route=/users`. */
  name?: string
  /** Path of a function's file, relative to the folder of the run or to `node_modules`. */
  file?: string
  /** Line of a function in the head runs, from 1; missing if several functions count together. */
  line?: number
  /** Package of a function or a file. */
  package?: string
  /** Number of functions of one name and file that count together, if there are several. */
  functions?: number
  /** Name and file in the base runs, if they were others. */
  was?: { name: string; file: string }
  /**
   * The nearest caller outside of Node and of native code, the one with the most time, in the head runs
   * if they have the function. Only functions that are Node's or native have it.
   */
  caller?: { name: string; file: string; line: number }
  /**
   * `wall` from the first start to the last end; `work` of all threads without waiting; `cpu` by the
   * system's count; `gc` of collections; `idle` in event loops; `waiting` for a core; `blocked` in calls;
   * `memory`: the most resident memory of a process; `processes`: their number; `self` and `total` time;
   * `duration` of all processes with the command.
   */
  measure:
    | 'wall'
    | 'work'
    | 'cpu'
    | 'gc'
    | 'idle'
    | 'waiting'
    | 'blocked'
    | 'memory'
    | 'processes'
    | 'self'
    | 'total'
    | 'duration'
  /** Unit of the numbers. */
  unit: 'ms' | 'bytes' | 'count' | 'share'
  /** Mean of the base runs. */
  base: number
  /** Mean of the head runs. */
  head: number
  /** `head` − `base` */
  difference: number
  /** Lower limit of the difference. All differences of a comparison are within their limits in 97 %. */
  low: number
  /** Upper limit of the difference. */
  high: number
  /** `difference` / `base`; missing if `base` is 0. */
  relative?: number
  /** Whether the difference is more than noise: 0 is not between the limits. */
  changed: boolean
}

/** A rule of a comparison. */
export interface ComparedRule {
  /** The rule, as it was given. */
  rule: string
  /** Whether the limit is exceeded beyond the noise. */
  broken: boolean
  /** The row that decided; missing if no run has what the rule names. */
  row?: ComparedRow
}

/** Options of `compare()`. */
export interface CompareOptions extends Selection {
  /** See {@link ReportOptions.sourcesIn}. */
  sourcesIn?: string
  /**
   * How much more head may need, beyond the noise: `total>5%` (also `work>5%`), `wall>2s`, `cpu>5%`,
   * `gc>10%`, `idle>1s`, `waiting>1s`, `blocked>1s`, `memory>50MB`, or of a name: `function:renderTable>20ms`,
   * `file:src/table.js>10%`, `package:lodash>10%`, `process:eslint src>1s`, `rule:no-cycle>10%`,
   * `plugin:vite-plugin-vue>10%`, `loader:babel-loader>10%`, `transform:ts-jest>10%`,
   * `test:renders rows>20ms`, `label:route=/users>10%`.
   */
  failOn?: string | string[]
  /**
   * Whether the times of functions, files, packages and owners are compared as shares of the work, for
   * runs of machines that are not equally fast. Default: `false`.
   */
  shares?: boolean
}

/**
 * Compares two sets of runs. A side is a recording, a run, a folder of runs (as `cpu-prof run --repeat`
 * writes one), or an array of runs. Reads one run at a time.
 */
export function compare(
  base: string | string[],
  head: string | string[],
  options?: CompareOptions,
): Promise<Comparison>
