//! What the values of settings mean.

use std::time::Duration;

/// Limits of a recording's history. Without limits the recording is one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HistoryLimits {
    /// Size of all files of the recording, bytes.
    pub max_size: Option<u64>,
    /// Age of the oldest file's end.
    pub keep: Option<Duration>,
}

impl HistoryLimits {
    /// Returns whether there is a limit.
    pub fn is_limited(self) -> bool {
        self.max_size.is_some() || self.keep.is_some()
    }
}

/// The kinds of events that are recorded beside the profile, which always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Categories {
    /// Garbage collections.
    pub gc: bool,
    /// Memory at each flush.
    pub memory: bool,
    /// Long tasks of the event loop.
    pub event_loop: bool,
    /// User timings.
    pub timings: bool,
    /// Requests of HTTP: each costs some ten microseconds, so they are not among the defaults.
    pub http: bool,
    /// How processes and workers end.
    pub processes: bool,
    /// The projects and files that TypeScript's compiler works on: this needs a debugger, so they are not
    /// among the defaults.
    pub typescript: bool,
    /// Native functions above those of JavaScript: they cost some percent of CPU time in native code, so they are
    /// not among the defaults.
    pub native: bool,
}

impl Categories {
    /// The words of the setting, with the profile.
    pub(super) const WORDS: &'static str =
        "cpu, gc, memory, loop, timings, http, processes, typescript and native";
    /// None: the profile alone.
    pub(super) const NONE: Self = Self {
        gc: false,
        memory: false,
        event_loop: false,
        timings: false,
        http: false,
        processes: false,
        typescript: false,
        native: false,
    };
    /// The kinds whose cost does not show.
    pub(super) const DEFAULT: &'static str = "cpu,gc,memory,loop,timings,processes";

    /// Reads a list with commas, which is added to the default after a plus sign; none if a word is unknown, or the
    /// profile is not in it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words = match text.strip_prefix('+') {
            Some(more) => format!("{},{more}", Self::DEFAULT),
            None => text.to_owned(),
        };
        let (mut categories, mut has_cpu) = (Self::NONE, false);
        for word in words.split(',') {
            *match word {
                "cpu" => &mut has_cpu,
                "gc" => &mut categories.gc,
                "memory" => &mut categories.memory,
                "loop" => &mut categories.event_loop,
                "timings" => &mut categories.timings,
                "http" => &mut categories.http,
                "processes" => &mut categories.processes,
                "typescript" => &mut categories.typescript,
                "native" => &mut categories.native,
                _ => return None,
            } = true;
        }
        has_cpu.then_some(categories)
    }
}

/// Whether DevTools may fold `node_modules` frames into 'On ignore list'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoreList {
    /// `Show` for a program that is itself a tool under `node_modules`, else `Keep`.
    Auto,
    /// DevTools decides.
    Keep,
    /// The frames are always shown.
    Show,
}

/// Source of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// V8's C++ profiler, looked up at run time.
    V8,
    /// A session of `node:inspector`, driven by JavaScript.
    Inspector,
}

impl Source {
    /// Returns the name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::V8 => "v8",
            Self::Inspector => "inspector",
        }
    }
}

/// Output formats of a recording, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// `.trace.json`, streamed.
    pub trace: bool,
    /// `.cpuprofile`, written at the end.
    pub cpuprofile: bool,
}

impl Formats {
    /// Extension of the traces of recordings.
    pub const TRACE_EXTENSION: &'static str = ".trace.json";
    /// Extension of the `.cpuprofile` files of recordings.
    pub const CPUPROFILE_EXTENSION: &'static str = ".cpuprofile";
}
