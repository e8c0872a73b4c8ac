//! The result of a merge, or the reason why there is none.

use std::path::PathBuf;

use serde::Serialize;
use thiserror::Error;

use cpu_prof_core::files::error::FileError;
use cpu_prof_core::files::input::{Failed, lossy_list};

/// The result of a merge: `MergeResult` in `index.d.ts`.
#[derive(Debug, Default, Serialize)]
pub struct MergeResult {
    /// The trace: one file, in a list as in other results.
    #[serde(serialize_with = "lossy_list")]
    pub files: Vec<PathBuf>,
    /// Size of the trace: bytes, uncompressed.
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
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The reason why there is no trace.
#[derive(Debug, Error)]
pub enum MergeError {
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
