//! Why a file was not read.

use std::io;

use cpu_prof_session::formats::trace::scan::ScanError;

/// Why a file was not read: the end of a sentence that begins with the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened.
    #[error("the file cannot be read: {0}")]
    Open(#[source] io::Error),
    /// The text is not JSON of a profile, or could not be read to its end.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The file is of another kind.
    #[error("{0}")]
    NoProfile(&'static str),
    /// The file is of a known kind, and its contents are not those of that kind.
    #[error("{0}")]
    Contents(String),
    /// The times come last in the file, and without them each share would be wrong.
    #[error(
        "the .cpuprofile is cut off: it has lost the times of its samples; record traces, which survive a kill"
    )]
    CutCpuProfile,
}
