//! Reasons why a file cannot be read any further.

use std::io;

/// The limit of the size of an event, or of a member of the file's object.
pub const MAX_VALUE_BYTES: usize = 256 << 20;

/// Why a file cannot be read any further: the end of a sentence that begins with the file's name.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// The system reports an error.
    #[error("the file cannot be read: {0}")]
    Io(#[source] io::Error),
    #[error("the file is empty")]
    Empty,
    #[error("the file is not a JSON object or array, and not pprof, so it has no profile")]
    NotJson,
    /// The place of the head has zeros.
    #[error(
        "the file begins with zeros: it was cut off while it was written, as a log rotation with copytruncate does, \
         so its names and its call tree are lost (the copy of the rotation has them)"
    )]
    Zeros,
    /// An event or a member is larger than [`MAX_VALUE_BYTES`].
    #[error("an event or a member of the file is larger than {} MB", MAX_VALUE_BYTES >> 20)]
    TooLarge,
}
