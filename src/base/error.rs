//! What can go wrong, grouped by what is to be done about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A reason why a thread is not, or no longer, recorded.
#[derive(Debug)]
pub(crate) enum Error {
    /// The user asked for something that cannot be: the program must not start.
    Setting {
        /// The setting's name, as the user wrote it (`CPU_PROF_INTERVAL`).
        name: &'static str,
        /// The value that was found.
        value: String,
        /// What would have been right, as the end of a sentence.
        allowed: String,
    },
    /// Nobody's fault: this process cannot be profiled, and runs on without us.
    Unavailable(String),
    /// Node was built without an inspector, or keeps it from this thread.
    NoInspector,
    /// The thread is being terminated: what it is asked for fails, and nobody needs to know.
    Terminated,
    /// A file could not be made or written: the program runs on without us.
    Output {
        /// What was being done (`create`, `write`).
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Whether the program must be stopped before its first line.
    pub(crate) fn stops_the_program(&self) -> bool {
        matches!(self, Error::Setting { .. })
    }

    /// One line for stderr: what happened, and what to do.
    pub(crate) fn line(&self) -> String {
        // A newline inside a value (a path may hold one) must not make two lines of it, nor an
        // escape colour the terminal.
        let then = match self {
            Error::Output { .. } => "; the program runs on unprofiled",
            _ => "",
        };
        format!("cpu-prof: {self}{then}").replace(char::is_control, " ")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Setting { name, value, allowed } => {
                write!(f, "{name}={value} is not valid: {allowed}")
            }
            Error::Unavailable(reason) => {
                write!(f, "not profiling this thread: {reason}")
            }
            Error::NoInspector => f.write_str(
                "not profiling this thread: it has no inspector (try CPU_PROF_SOURCE=v8)",
            ),
            Error::Terminated => f.write_str("not profiling this thread: it is being terminated"),
            Error::Output { action, path, source } => {
                write!(f, "could not {action} {}: {source}{}", path.display(), advice(source),)
            }
        }
    }
}

impl std::error::Error for Error {}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (set CPU_PROF_DIR to a directory that can be written)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (free some space, or set CPU_PROF_DIR to another disk)"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line() {
        let error = Error::Output {
            action: "create",
            path: PathBuf::from("/a\nb\u{b}c\u{1b}[31md"),
            source: io::Error::from(io::ErrorKind::PermissionDenied),
        };
        assert!(!error.line().contains(char::is_control));
        assert!(error.line().contains("CPU_PROF_DIR"));
    }

    #[test]
    fn only_settings_stop_the_program() {
        assert!(!Error::Unavailable("x".into()).stops_the_program());
        let wrong = Error::Setting { name: "A", value: "b".into(), allowed: "c".into() };
        assert!(wrong.stops_the_program());
        assert_eq!(wrong.line(), "cpu-prof: A=b is not valid: c");
    }
}
