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
   * Returns a reader of the windows of files and folders. `options` are `ReaderOptions` as JSON, which take
   * precedence over the variables of the environment. The slice of the selection is of no use.
   */
  cpuProfPushReader(
    inputs: string[],
    options: string,
    variables: Record<string, string>,
    selection: JsSelection,
  ): External<'PushReader'>
  /** Reads the next window. */
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
  /** Offers a payload. Takes `PushMeta`, and returns whether the payload was taken. */
  cpuProfPushOffer(
    sender: External<'Sender'>,
    meta: string,
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

/** What a reader of windows has next. */
export interface JsPushStep {
  /** Profiles of the next window. */
  payloads: JsPayload[]
  /** Time before which there is nothing more, milliseconds; missing if the next window can be read. */
  waitMs?: number
  /** Whether there is nothing more. */
  isEnd: boolean
  /** What the user has to know, `PushNews` as JSON. */
  news: string
}

/** A profile for a server. */
export interface JsPayload {
  /** `PushMeta` as JSON. */
  meta: string
  /** The gzipped body. */
  body: Buffer
}
