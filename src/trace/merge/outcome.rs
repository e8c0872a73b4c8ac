//! What a merge is told, and what it tells.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::input::Failed;

/// What is known of a process's end.
#[derive(Debug, Clone, Default)]
pub struct Exit {
    /// The process.
    pub pid: u32,
    /// Its exit code, if it had one.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<String>,
}

/// What is to be merged, and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where the trace begins: microseconds after the first recording did.
    pub from_us: Option<i64>,
    /// Where it ends.
    pub to_us: Option<i64>,
    /// The size of the files that it becomes, if it may be several: bytes, uncompressed.
    pub split: Option<u64>,
    /// How the process ended that all others came from.
    pub exit: Option<Exit>,
}

/// How far a merge is: bytes of the inputs.
#[derive(Debug, Default)]
pub struct Progress {
    /// Read so far.
    pub done: Arc<AtomicU64>,
    /// To be read; 0 while that is not known.
    pub total: AtomicU64,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Merged {
    /// The files that were written.
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
    pub repaired: Vec<PathBuf>,
    /// Inputs that could not be read.
    pub failed: Vec<Failed>,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Why there is no trace.
#[derive(Debug)]
pub enum MergeError {
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
    NothingInWindow {
        /// How long the recordings are, milliseconds.
        length_ms: i64,
    },
    /// The trace cannot be written.
    Output {
        /// What was being done.
        action: &'static str,
        /// The trace.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
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
            Self::NothingInWindow { length_ms } => write!(
                f,
                "nothing was recorded in that window; the recordings go from 0 to {length_ms} ms"
            ),
            Self::Output { action, path, source } => {
                write!(f, "could not {action} {}: {source}", path.display())?;
                match source.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        write!(f, " (free some space, or write it to another disk; .gz is smaller)")
                    }
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                        write!(f, " (write it to a folder that can be written)")
                    }
                    io::ErrorKind::IsADirectory => write!(f, " (give the name of a file in it)"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for MergeError {}
