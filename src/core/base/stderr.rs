//! The lines that a process may write to stderr.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::Error;
use super::system;

/// Writes an error to stderr, at most once per process: a cause that affects one thread mostly
/// affects all of them. A failed write is ignored.
pub fn warn_once(error: &Error) {
    static IS_WARNED: AtomicBool = AtomicBool::new(false);
    if !matches!(error, Error::Terminated) && !IS_WARNED.swap(true, Ordering::Relaxed) {
        warn(error);
    }
}

/// Writes an error to stderr. A failed write is ignored.
pub fn warn(error: &Error) {
    if system::is_stderr_writable() {
        let _ = writeln!(io::stderr(), "{}", error.line());
    }
}
