// Written by `node scripts/addon-types.js --write` from the exports of the addons.

declare const kind: unique symbol

/** A value of an addon, which JavaScript can only give back. */
export interface External<Name extends string> {
  readonly [kind]: Name
}

/** The exports of packages/fleet/src/addon/exports. */
export interface Fleet {
  /** Returns the version of the package that this addon belongs to. */
  cpuProfVersion(): string
  /** Returns how this addon was built. */
  cpuProfBuild(): string
  /** Reads the address of a lake, `variables` are those of an object store: `AWS_…`. Nothing is opened. */
  cpuProfLakeOpen(lake: string, variables: Record<string, string>): External<'Lake'>
  /** Returns whether a lake is in an object store. */
  cpuProfLakeIsRemote(lake: External<'Lake'>): boolean
  /** Adds a run. Takes an `AddRequest`, and returns an `AddOutcome`. */
  cpuProfLakeAdd(lake: External<'Lake'>, request: string): Promise<string>
  /** Tells what is live, and gets the files. Takes a `LiveRequest`, and returns a `LiveAnswer`. */
  cpuProfLakeLive(lake: External<'Lake'>, request: string): Promise<string>
  /** Commits a change. Takes a `CommitRequest`, and returns whether no other change has the number. */
  cpuProfLakeCommit(lake: External<'Lake'>, request: string): Promise<string>
  /** Removes what nobody reads. Takes a `SweepRequest`, and returns the count of removed files. */
  cpuProfLakeSweep(lake: External<'Lake'>, request: string): Promise<string>
  /**
   * Reads files and folders, and writes the tables of their run into a folder. `facts` is JSON: what the user
   * knows about the run. Returns a `LakeTables`.
   */
  cpuProfLakeTables(
    inputs: string[],
    facts: string,
    folder: string,
    selection: JsSelection,
  ): Promise<string>
  /**
   * Returns a reader of the slices of files and folders. `options` take precedence over the variables of the
   * environment. The slice of the selection is of no use.
   */
  cpuProfPushReader(
    inputs: string[],
    options: JsReaderOptions,
    variables: Record<string, string>,
    selection: JsSelection,
  ): External<'PushReader'>
  /** Reads the next slice. */
  cpuProfPushNext(reader: External<'PushReader'>): Promise<JsPushStep>
  /**
   * Opens a sender, which has a thread until it is finished or dropped. Takes `PushOptions`, which take
   * precedence over the variables of the environment, as the address does.
   */
  cpuProfPushOpen(
    url: string | null | undefined,
    options: string,
    variables: Record<string, string>,
  ): External<'Sender'>
  /** Returns the kind of the server: `pyroscope` or `otlp`. */
  cpuProfPushKind(sender: External<'Sender'>): 'pyroscope' | 'otlp'
  /** Offers a payload. Returns whether the payload was taken. */
  cpuProfPushOffer(
    sender: External<'Sender'>,
    meta: JsPushMeta,
    body: Buffer,
    waits: boolean,
  ): Promise<string>
  /** Returns `PushCounts`. */
  cpuProfPushState(sender: External<'Sender'>): string
  /** Sends what waits until the time is over, and ends the thread. Returns `PushCounts`. */
  cpuProfPushFinish(sender: External<'Sender'>, timeoutMs: number): Promise<string>
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

/** The settings of a reader of slices. */
export interface JsReaderOptions {
  /** Kind of the server. */
  kind: 'pyroscope' | 'otlp'
  /** Name of the service; missing for the one of the environment, or of the process. */
  service?: string
  /** Tags beside those of the environment. */
  tags: Record<string, string>
  /** Length of a slice, milliseconds. */
  sliceMs: number
  /** Whether the recordings grow. */
  follows: boolean
}

/** What a reader of slices has next. */
export interface JsPushStep {
  /** Profiles of the next slice. */
  payloads: JsPayload[]
  /** Time before which there is nothing more, milliseconds; missing if the next slice can be read. */
  waitMs?: number
  /** Whether there is nothing more. */
  isEnd: boolean
  /** What the user has not seen so far. */
  news: JsPushNews
}

/** What is known of a profile. */
export interface JsPushMeta {
  /** Name of the service. */
  name: string
  /** Labels of the profile. */
  labels: Record<string, string>
  /** Start, milliseconds of Unix time. */
  fromMs: number
  /** End, milliseconds of Unix time. */
  untilMs: number
  /** Samples in a second. */
  sampleRate: number
}

/** A profile for a server. */
export interface JsPayload {
  /** What is known of the profile. */
  meta: JsPushMeta
  /** The gzipped body. */
  body: Buffer
}

/** What the user has to know. */
export interface JsPushNews {
  /** Remarks, a sentence each. */
  notes: string[]
  /** Files that could not be read. */
  failed: JsFailed[]
}

/** A file that could not be read. */
export interface JsFailed {
  /** Path, as it was given or found. */
  file: string
  /** The end of a sentence that begins with the file. */
  reason: string
}
