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
    /// The frames of the thread, which a signal handler of our own follows.
    Walk,
    /// A session of `node:inspector`, driven by JavaScript.
    Inspector,
}

impl Source {
    /// Returns the name in settings and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::V8 => "v8",
            Self::Walk => "walk",
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
