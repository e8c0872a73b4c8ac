// Written by `node scripts/addon-types.js --write` from the exports of the addons.

declare const kind: unique symbol

/** A value of an addon, which JavaScript can only give back. */
export interface External<Name extends string> {
  readonly [kind]: Name
}

/** The exports of src/recorder/exports. */
export interface Recorder {
  /**
   * Starts the calling thread's part of a recording of all armed threads, where only JavaScript can. Returns
   * whether the thread's recording is a part of one that has ended, and should be stopped.
   */
  cpuProfFollow(startInspector: StartInspector): boolean
  /**
   * Returns what the calling thread's recording wants beside the profile, as bits: 1 for user timings, 2
   * for requests of HTTP, 4 for what TypeScript's compiler works on.
   */
  cpuProfWantedTimings(): number
  /**
   * Adds an event of any phase, as JSON, to the calling thread's recording. Fills in what is missing.
   * Returns what is wrong with the event.
   */
  cpuProfEmit(json: string): string | null
  /** Returns by how much the clock of `process.hrtime` is ahead of the trace's, microseconds. */
  cpuProfClockLead(): number
  /**
   * Adds a mark. `startUs` is its time by the clock of `process.hrtime`, microseconds; `startMs` by
   * that of `performance.now()`, milliseconds. Without them it marks this moment. `detail` is JSON.
   */
  cpuProfMark(
    name: string,
    detail?: string | null | undefined,
    startUs?: number | null | undefined,
    startMs?: number | null | undefined,
  ): void
  /** Adds a time that has ended. `durationUs` is in microseconds, the others are as for a mark. */
  cpuProfMeasure(
    name: string,
    detail: string | null | undefined,
    startUs: number,
    startMs: number,
    durationUs: number,
  ): void
  /**
   * Lets requests that have ended be taken from arrays in which JavaScript notes them. `clockOffsetUs` is
   * the time of the clock of `process.hrtime` at which that of `performance.now()` was 0, microseconds.
   */
  cpuProfUseRequestNotes(numbers: Float64Array, units: Uint16Array, clockOffsetUs: number): void
  /** Tells that JavaScript has noted a first request. */
  cpuProfHasRequests(): void
  /** Takes the requests that JavaScript has noted. */
  cpuProfTakeRequests(): void
  /** Begins a span. Returns the span's number. */
  cpuProfBeginSpan(name: string, detail?: string | null | undefined): number | null
  /** Ends a span. */
  cpuProfEndSpan(name: string, number: number): void
  /** Returns whether this system lets labels be recorded. */
  cpuProfCanLabel(): boolean
  /**
   * Returns the id of a label set: that of the set `outer` with further labels, a key and its value in turn. The
   * number is negative if nobody has asked for the set before: it may never be asked for again.
   */
  cpuProfLabelSet(outer: number, labels: string[]): number
  /**
   * Returns the number of the generation of the calling thread's label sets. With the next one, ids that were asked
   * for in this one can be forgotten.
   */
  cpuProfLabelGeneration(): number
  /** Looks for the place of the current asynchronous context. Returns whether there is a context. */
  cpuProfFindContext(): boolean
  /**
   * Looks again in another context. `storage` is the `AsyncLocalStorage` whose value is read from now on.
   * Returns whether the place is certain.
   */
  cpuProfFindContextAgain(storage: object): boolean
  /** Returns the value of the storage in the current context, read as in a signal handler. */
  cpuProfReadLabels(): number | null
  /** Lets the calling thread's labels be recorded, from the place that was found. */
  cpuProfUseContext(): void
  /** Returns whether the current asynchronous context has no frame. */
  cpuProfIsOutside(): boolean
  /** Returns the frame of the current asynchronous context, which `cpuProfEnterFrame` takes. */
  cpuProfFrame(): object | null
  /**
   * Makes a frame that of the rest of the current asynchronous context, if the context has none. Returns
   * whether it has the frame now.
   */
  cpuProfEnterFrame(frame: object): boolean
  /**
   * Lets the calling thread's labels be recorded, from an array of one number that JavaScript writes and
   * never gives away.
   */
  cpuProfUseCell(cell: Int32Array): void
  /** Tells the user that the calling thread's labels are not recorded. */
  cpuProfRefuseLabels(reason: string): void
  /** Sets the library that sends profiles, or why there is none. Recordings that start later use it. */
  cpuProfPushLibrary(path: string | null | undefined, why: string): void
  /** Returns the version of the package that this addon belongs to. */
  cpuProfVersion(): string
  /** Returns how this addon was built. */
  cpuProfBuild(): string
  /**
   * Starts recording the calling thread with the settings of the environment, unless it is being
   * recorded, or arms the thread.
   *
   * `argv` is `process.argv`; `follow` is called without arguments where an armed thread has been started or
   * stopped, or should be. `calling` calls its first argument, within `JSON.stringify` if the second is true. Returns false if a setting is wrong, so that the program must be
   * stopped; the reason is on stderr by then. Any other failure is reported there too, and the
   * program runs on unprofiled.
   */
  cpuProfRecord(
    thread: CallingThread,
    argv: object,
    startInspector: StartInspector,
    follow: Follow,
    calling: CallingFunction,
  ): boolean
  /**
   * Starts recording the calling thread, which is not being recorded, or arms the thread; a worker that is
   * covered by a recording gets its own instead. `options` take precedence over the environment; their values are
   * written as text. Returns the reason of a failure.
   */
  cpuProfStart(
    thread: CallingThread,
    argv: object,
    options: Record<string, string>,
    startInspector: StartInspector,
    follow: Follow,
    calling: CallingFunction,
  ): StartFailure | null
  /**
   * Waits for a sample in this call, some milliseconds at most, if the calling thread is recorded. V8 gives the functions
   * of all addons one name, and the sample tells this name.
   */
  cpuProfWaitForSample(): void
  /** Returns the settings of a recording as JSON, a list. */
  cpuProfSettings(): string
  /**
   * Lets the calling thread's recording cover its workers. Returns nothing if the workers cannot be
   * reached; the reason is on stderr then.
   */
  cpuProfCoverWorkers(): WorkerCoverage | null
  /** Starts recording the calling worker for the recording that covers it. */
  cpuProfRecordWorker(worker: CoveredWorker, startInspector: StartInspector): void
  /**
   * Stops recording the calling thread, and returns when its files are complete. Returns nothing if
   * the thread was not recorded.
   */
  cpuProfStop(): JsRecording | null
  /**
   * Returns whether the calling thread, which is sampled by the inspector, needs a window. A thread
   * that has only waited for events since its last window needs none.
   */
  cpuProfNeedsWindow(): boolean
  /**
   * Hands over a window of the inspector: its profile as JSON, the time when JavaScript began to hand
   * it over, and the time in which JavaScript started the next profile, both 0 if it has not. Times
   * are microseconds of `process.hrtime`. Returns `continue`, `give up`, or `restart`: stop before
   * the next profile starts.
   */
  cpuProfWindow(
    json: string,
    sinceUs: number,
    profilerFromUs: number,
    profilerToUs: number,
  ): 'continue' | 'give up' | 'restart'
  /** Ends the calling thread's recording because the thread ends. A later `stop` returns the result. */
  cpuProfEnd(): void
  /**
   * Ends the recording of the main thread, because `process.execve()` is about to end the program. If
   * that fails, the program goes on in a second recording.
   */
  cpuProfEndForNow(): void
  /** Names the calling worker by its script. */
  cpuProfNameWorker(script: string): void
  /** Returns whether the calling thread is being recorded. */
  cpuProfIsRecording(): boolean
  /** Notes that the calling thread has just started a worker. */
  cpuProfNoteWorker(): void
  /**
   * Returns whether the calling thread is a worker that is recorded only because a recording covers
   * it.
   */
  cpuProfIsCovered(): boolean
  /** Returns whether this is Node's main thread; false if this Node does not tell. */
  cpuProfIsMainThread(): boolean
}

/** The exports of src/tools/exports. */
export interface Tools {
  /** Checks files and folders. Returns a `Check`. */
  cpuProfCheck(inputs: string[]): Promise<string>
  /** Compares runs, each a list of files and folders. Returns a `Comparison`. */
  cpuProfCompare(
    base: string[][],
    head: string[][],
    wanted: WantedItem[],
    shares: boolean,
    selection: JsSelection,
  ): Promise<string>
  /**
   * Reads runs, each a list of files and folders, for a page that compares them. Returns the data of the
   * page.
   */
  cpuProfComparePage(
    base: string[][],
    head: string[][],
    baseName: string,
    headName: string,
    selection: JsSelection,
  ): Promise<string>
  /**
   * Compares rows of values, `[{base, head, sampled}]` as JSON: one value for each run, in the same unit as
   * `sampled`, the time between two samples. Returns `{noise, differences}`, a difference for each row.
   */
  cpuProfDifferences(rows: string): Promise<string>
  /** Finds changes in the rows of a `ChangeInput`, which is JSON. Returns `FoundChanges`. */
  cpuProfBlame(input: string): Promise<string>
  /** Returns the formats that `convert` writes as JSON, a list. */
  cpuProfFormats(): string
  /** Converts files and folders. Returns a `ConvertResult`. */
  cpuProfConvert(inputs: string[], output: string, selection: JsSelection): Promise<string>
  /**
   * Returns when the event loop of this process turns next: `never`, `at once` or `later`; nothing where `endNow`
   * is not possible.
   */
  cpuProfNextTurn(): 'never' | 'at once' | 'later' | null
  /** Ends this process if nothing keeps it alive. Does nothing otherwise. */
  cpuProfEndNow(code: number): void
  /**
   * Writes a text into a file, which is whole or not there, or into a device or a pipe. Compresses a
   * file whose name ends in `.gz`. Returns nothing.
   */
  cpuProfWriteFile(path: string, text: string): Promise<string>
  /** Removes unfinished files, for a process that is about to end. */
  cpuProfAbandonFiles(): void
  /** Returns a follower, for `followLook`, which has looked at nothing. */
  cpuProfFollow(): External<'Follower'>
  /**
   * Looks at the last seconds of files and folders. `by` is `function`, `file`, `package`, `thread`, `label`
   * or `label:<key>`; `top` limits the rows by each time. The slice of the selection is of no use. Returns a `LiveView`.
   */
  cpuProfFollowLook(
    follower: External<'Follower'>,
    inputs: string[],
    seconds: number,
    by: string,
    top: number,
    selection: JsSelection,
  ): Promise<string>
  /** Returns the progress of a merge that starts later, for `merge` and `mergeProgressNow`. */
  cpuProfMergeProgress(): External<'MergeProgress'>
  /** Returns how far a merge is. */
  cpuProfMergeProgressNow(progress: External<'MergeProgress'>): JsMergeProgress
  /** Merges files and folders into one trace. Returns a `MergeResult`. */
  cpuProfMerge(
    inputs: string[],
    output: string,
    options: JsMergeOptions,
    progress: External<'MergeProgress'>,
  ): Promise<string>
  /** Reads files and folders for an HTML report. Returns the data of the page. */
  cpuProfPage(inputs: string[], selection: JsSelection): Promise<string>
  /** Reports on files and folders. Returns a `Report`. */
  cpuProfReport(inputs: string[], options: JsReportOptions, selection: JsSelection): Promise<string>
  /** Returns the version of the package that this addon belongs to. */
  cpuProfVersion(): string
  /** Returns how this addon was built. */
  cpuProfBuild(): string
  /** Returns the settings of a recording as JSON, a list. */
  cpuProfSettings(): string
  /**
   * Returns one sentence on what is wrong with settings for other processes, or nothing. `options`
   * override the environment; their values are text.
   */
  cpuProfCheckSettings(options: Record<string, string>): string | null
  /** Returns the milliseconds of a length of time such as `500ms` or `1.5h`; nothing for another text. */
  cpuProfLengthMs(text: string): number | null
  /**
   * Returns the words of a command that runs Node without secrets. `scriptAt` is the place of the script, or of the
   * code.
   */
  cpuProfCommand(words: string[], scriptAt: number): string[]
  /** Lets the programs that this process starts inherit these open files, under the same numbers. */
  cpuProfPassOn(files: number[]): void
  /**
   * Returns the processes of this machine, a list of `ListedProcess` as JSON; `null` where the system has
   * files that tell, or does not tell.
   */
  cpuProfProcesses(): string
  /** Returns what the headers of recordings tell, a list of `FileHeader` as JSON. */
  cpuProfHeaders(files: string[]): string
  /**
   * Adds to the recording of a process what ran under the process without a recording: the count of Node processes,
   * and CPU times in milliseconds. Returns whether the recording tells it now.
   */
  cpuProfNoteUnrecorded(file: string, nodes: number, nodesMs: number, othersMs: number): boolean
  /**
   * Returns the user of the process at the other end of a local connection, which is an open file; nothing if
   * the system does not tell.
   */
  cpuProfPeerUser(connection: number): number | null
  /** Returns the runs of a folder, a `FolderRuns` as JSON. */
  cpuProfRunsIn(folder: string): string
  /** Returns the traces that stand for their runs where everything in a folder is read, below the folder. */
  cpuProfTracesOfRuns(folder: string): string[]
  /** Returns whether a folder has a recording, also in folders below. */
  cpuProfHasRecordings(folder: string): boolean
  /**
   * Returns the folder of the `cpu-prof run` that `nodeOptions`, the text of `NODE_OPTIONS`, belongs
   * to.
   */
  cpuProfRunFolder(nodeOptions: string): string | null
  /** Makes an empty folder private to this user. Returns whether the folder is. */
  cpuProfMakePrivate(folder: string): boolean
  /** Returns the text of a file in a folder; nothing if another user can have made the file or the folder. */
  cpuProfReadOwnFile(folder: string, file: string): string | null
  /** Returns whether a path that a recording names may be looked at: a file of a local disk of this system. */
  cpuProfIsLocalFile(path: string): boolean
  /**
   * Returns the text of a regular file, read without waiting; nothing if the file is empty, has more than
   * `most` bytes, cannot be read, or is a device or a pipe.
   */
  cpuProfReadRegularFile(path: string, most: number): string | null
  /**
   * Returns whether a recording with the name `pattern` may be written to `path`, which has an
   * extension. Both count from the same folder. An invalid pattern names no file.
   */
  cpuProfIsRecordingName(pattern: string, path: string): boolean
}

/**
 * Starts the inspector. Takes the time between two samples (microseconds), the time between two
 * windows (milliseconds), whether the user set the latter, and Node's global object. Returns the
 * reason of a failure, which is empty if there is no inspector.
 */
export type StartInspector = (
  value1: number,
  value2: number,
  value3: boolean,
  value4: unknown,
) => string | null | undefined

/** Follows a start or a stop of an armed thread. */
export type Follow = () => void

/** Calls its first argument. */
export type CallingFunction = (value1: unknown, value2: boolean) => void

/** The properties of a thread that only JavaScript knows. */
export interface CallingThread {
  /** `worker_threads.threadId` */
  threadId: number
  /** The worker's name, as Node reports it; empty if Node does not. */
  name: string
  /** `process.execArgv` */
  execArgv: string[]
  /** `process.version` */
  version: string
  /** Folder `lib` of the package. */
  lib: string
  /** `cluster.worker.id`, in a process that `node:cluster` has started. */
  clusterWorker?: number
}

/** The reason why a recording did not start. */
export interface StartFailure {
  /** Whether a setting is wrong. */
  isSetting: boolean
  /** The reason, one line. */
  message: string
}

/** How the workers of a recording are reached. */
export interface WorkerCoverage {
  /** Id of the recording. */
  recording: number
  /**
   * Name of the linked binding with the function that records a worker; none where JavaScript
   * does.
   */
  binding?: string
}

/** A worker that is recorded because a recording covers it. */
export interface CoveredWorker {
  /** The worker. */
  thread: CallingThread
  /** Id of the recording that covers the worker. The recording may have ended. */
  recording: number
  /** Script of the worker; empty for text that the worker evaluates. */
  script: string
}

/** A recording that was stopped. */
export interface JsRecording {
  /** Absolute paths of its files. */
  files: string[]
  /** Number of samples in the files. */
  samples: number
  /** Number of call-tree nodes in the files. */
  nodes: number
  /** Time from start to stop, milliseconds. */
  durationMs: number
  /** Number of samples that could not be written. */
  droppedSamples: number
  /** Number of the program's events that could not be written. */
  droppedEvents: number
  /** Node's thread id. */
  threadId: number
  /** Id of the process. */
  pid: number
  /** Source of the samples. */
  source: 'v8' | 'walk' | 'inspector'
}

/** What is compared even if it hardly took time. */
export interface WantedItem {
  /** `function`, `file`, `package`, `process`, `label`, or the kind of an owner. */
  kind: string
  /** The name that a rule gives it. */
  name: string
}

/** The part of recordings that a tool shows. Lists of texts are empty for everything. */
export interface JsSelection {
  /**
   * Start of the slice: milliseconds after the first recording's start, or before the last one's
   * end if negative. May be infinite.
   */
  from?: number
  /** End of the slice, likewise. */
  to?: number
  /** Whether functions and lines are those of the sources. */
  sourceMaps: boolean
  /** The folder below which sources and maps are read. */
  sourcesIn?: string
  /** Folders with the symbols of native modules. */
  symbols: string[]
  /** Parts of commands, or pids. */
  process: string[]
  /** Parts of names of threads, or thread ids. */
  thread: string[]
  /** Names of packages. */
  package: string[]
  /** Parts of the names or the places of functions that stacks must have. */
  focus: string[]
  /** Parts of the names or the places of functions that stacks must not have. */
  ignore: string[]
  /** Labels that samples must have: `key=value`. */
  label: string[]
}

/** How far a merge is. */
export interface JsMergeProgress {
  /** Bytes of the inputs that were read so far. */
  done: number
  /** All bytes of the inputs; 0 until they are known. */
  total: number
}

/** The options of a merge. */
export interface JsMergeOptions {
  /** The inputs with names, after those without. */
  named: NamedInput[]
  /** What goes into the trace. */
  selection: JsSelection
  /** End of the process that started all others. */
  exit?: JsMergeExit
  /** Categories of other tools' events; empty for all. */
  categories: string[]
  /** Least time between two samples, microseconds. */
  interval?: number
}

/** What a report contains. */
export interface JsReportOptions {
  /** Rows of each list, by each time. May be infinite. */
  top: number
  /** A function of which callers, callees, lines and processes are wanted. */
  function?: string
  /** Count of the functions with the most self time of which the same is wanted. */
  details: number
  /** Whether the call tree is wanted. */
  tree: boolean
  /** Whether the modules are wanted, by the time of loading them. */
  imports: boolean
  projects: boolean
  /** What the list of labels is by: nothing for whole sets, or a key. Missing for the key that tells the most. */
  label?: string
  /** The shortest stall that is wanted, milliseconds. */
  stalls?: number
}

/** An input with the name that its processes have in the trace. */
export interface NamedInput {
  /** Name of the processes. */
  name: string
  /** Path of the input. */
  path: string
}

/** How a process ended. */
export interface JsMergeExit {
  /** Process id. */
  pid: number
  /** Exit code, if there was one. */
  code?: number
  /** Name of the signal that ended the process, if one did. */
  signal?: string
}
