//! The one line that a process may write to stderr.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::error::Error;
use crate::base::system;

/// Writes an error to stderr, at most once in a process: a cause that affects one thread mostly
/// affects all of them. Failing to write is ignored.
pub(crate) fn complain(error: &Error) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !matches!(error, Error::Terminated)
        && !SAID.swap(true, Ordering::Relaxed)
        && system::stderr_takes_a_line()
    {
        let _ = writeln!(io::stderr(), "{}", error.line());
    }
}
