//! The options and the outcome of a merge.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Serialize;
use thiserror::Error;

use crate::read::filter::Filter;
use crate::read::slice::SliceLimits;
use cpu_prof_core::files::error::FileError;
use cpu_prof_core::files::input::{Failed, lossy_list};

/// The end of the process that all others come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessExit {
    /// Pid.
    pub pid: u32,
    /// Exit code, if the process had one.
    pub code: Option<i32>,
    /// Signal that killed the process, if one did.
    pub signal: Option<String>,
}

/// The options of a merge.
#[derive(Debug, Clone, Default)]
pub(crate) struct MergeOptions {
    /// Names of inputs, which their processes have in the trace, with their paths. These inputs come
    /// after the others.
    pub names: Vec<(String, PathBuf)>,
    /// Whether the inputs of each path begin when those of the first begin.
    pub aligns_starts: bool,
    /// Limits of the slice of the time that goes into the trace.
    pub slice: SliceLimits,
    /// Size of a part if the trace may be split: bytes, uncompressed.
    pub split: Option<u64>,
    /// End of the process that all others come from.
    pub exit: Option<ProcessExit>,
    /// Processes, threads and stacks that go into the trace.
    pub filter: Filter,
    /// Categories of other tools' events that go into the trace; empty for all.
    pub categories: Vec<String>,
    /// Whether threads that hardly worked are left out.
    pub drop_idle: bool,
    /// Least time between two samples, microseconds; none for all samples.
    pub interval_us: Option<i64>,
    /// Whether functions and lines become those of the sources, by source maps.
    pub source_maps: bool,
}

/// The progress of a merge, which other threads can read.
#[derive(Debug, Default)]
pub(crate) struct MergeProgress {
    /// Bytes of the inputs read so far.
    pub done: Arc<AtomicU64>,
    /// Bytes of the inputs to read; 0 until known.
    pub total: AtomicU64,
}

/// The outcome of a merge: `MergeResult` in `index.d.ts`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MergeResult {
    /// Files that were written.
    #[serde(serialize_with = "lossy_list")]
    pub files: Vec<PathBuf>,
    /// Size of the largest file: bytes, uncompressed.
    pub bytes: u64,
    /// Count of the inputs in the trace.
    pub inputs: usize,
    /// Count of the processes in the trace.
    pub processes: usize,
    /// Count of the threads in the trace.
    pub threads: usize,
    /// Inputs that were cut off or torn.
    #[serde(serialize_with = "lossy_list")]
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// The reason why there is no trace.
#[derive(Debug, Error)]
pub(crate) enum MergeError {
    #[error(
        "there are no traces in {}: nothing was recorded, or the recordings are elsewhere \
         (CPU_PROF_DIR says where recordings go)",
        places(paths)
    )]
    NoInput { paths: Vec<PathBuf> },
    #[error("nothing could be read{}", reasons(failed))]
    Unreadable { failed: Vec<Failed> },
    #[error("{reason}")]
    NothingInSlice { reason: String },
    #[error("{reason}")]
    NothingLeft { reason: String },
    #[error(transparent)]
    Output(#[from] FileError),
}

fn places(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { "the inputs".to_owned() } else { paths.join(", ") }
}

fn reasons(failed: &[Failed]) -> String {
    let reason = |failed: &Failed| format!("\n  {}: {}", failed.path.display(), failed.reason);
    failed.iter().map(reason).collect()
}
