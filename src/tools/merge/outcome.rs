//! What a merge is told, and what it tells.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::Serialize;

use crate::files::error::FileError;
use crate::files::input::{Failed, lossy_list};

/// What is known of a process's end.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessExit {
    /// The process.
    pub pid: u32,
    /// Its exit code, if it had one.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<String>,
}

/// What is to be merged, and how.
#[derive(Debug, Clone, Default)]
pub(crate) struct MergeOptions {
    /// Where the trace begins: microseconds after the first recording did.
    pub from_us: Option<i64>,
    /// Where it ends.
    pub to_us: Option<i64>,
    /// The size of the files that it becomes, if it may be several: bytes, uncompressed.
    pub split: Option<u64>,
    /// How the process ended that all others came from.
    pub exit: Option<ProcessExit>,
}

/// How far a merge is: bytes of the inputs.
#[derive(Debug, Default)]
pub(crate) struct MergeProgress {
    /// Read so far.
    pub done: Arc<AtomicU64>,
    /// To be read; 0 while that is not known.
    pub total: AtomicU64,
}

/// What became of it: a `MergeResult` of `index.d.ts`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MergeResult {
    /// The files that were written.
    #[serde(serialize_with = "lossy_list")]
    pub files: Vec<PathBuf>,
    /// The size of the largest, uncompressed.
    pub bytes: u64,
    /// The inputs that are in it.
    pub inputs: usize,
    /// The processes in it.
    pub processes: usize,
    /// The threads in it.
    pub threads: usize,
    /// Inputs that were cut off or torn.
    #[serde(serialize_with = "lossy_list")]
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Why there is no trace.
#[derive(Debug)]
pub(crate) enum MergeError {
    /// There is nothing to merge.
    NoInput {
        /// Where it was looked for.
        paths: Vec<PathBuf>,
    },
    /// None of the inputs can be read.
    Unreadable {
        /// Each of them.
        failed: Vec<Failed>,
    },
    /// Nothing was recorded in the window that was asked for.
    NothingInSlice {
        /// How long the recordings are, milliseconds.
        length_ms: i64,
    },
    /// The trace cannot be written.
    Output(FileError),
}

impl From<FileError> for MergeError {
    fn from(error: FileError) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInput { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(
                    f,
                    "there are no traces in {}: nothing was recorded, or it is elsewhere \
                     (CPU_PROF_DIR says where recordings go)",
                    if paths.is_empty() { "what was given".to_owned() } else { paths.join(", ") }
                )
            }
            Self::Unreadable { failed } => {
                write!(f, "nothing could be read")?;
                for Failed { path, reason } in failed {
                    write!(f, "\n  {}: {reason}", path.display())?;
                }
                Ok(())
            }
            Self::NothingInSlice { length_ms } => write!(
                f,
                "nothing was recorded in that window; the recordings go from 0 to {length_ms} ms"
            ),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MergeError {}
