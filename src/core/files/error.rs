//! Why an output file of a tool could not be written, and what to do about it.

use std::io;
use std::path::PathBuf;

/// A failed operation on an output file.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}: {source}{}", path.display(), advice(source))]
pub struct FileError {
    /// The operation, as a verb.
    pub action: &'static str,
    /// The output's path, which is not always the path that failed.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (free some space, or choose another disk; .gz files are smaller)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (choose a folder that you may write to)"
        }
        io::ErrorKind::IsADirectory => " (give the name of a file in it)",
        _ => "",
    }
}
