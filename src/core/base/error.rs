//! The reasons why a thread is not, or no longer, recorded, as one line for the user.

use std::io;
use std::path::PathBuf;

/// A reason why a thread is not, or no longer, recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is wrong: a preloaded program is stopped before its first line.
    #[error("{name}={value} is not valid: {allowed}")]
    Setting {
        /// Name of the setting as the user wrote it (`CPU_PROF_INTERVAL`).
        name: &'static str,
        /// Value of the setting.
        value: String,
        /// The mistake, or the allowed values, as the end of a sentence.
        allowed: String,
    },
    /// This thread or process cannot be profiled, and runs on unprofiled.
    #[error("not profiling this thread: {0}")]
    Unavailable(String),
    /// The walk of a thread's frames cannot be the source, or no longer, for this reason. V8's profiler is the source.
    #[error("CPU_PROF_SOURCE=walk is not possible here: {0}; V8's profiler records instead")]
    NoWalk(String),
    /// Conditions have no effect, for now or for good. The program runs on.
    #[error("the condition {condition} records nothing: {reason}")]
    Condition {
        /// The condition, as in the setting.
        condition: String,
        /// The reason, and what to do.
        reason: String,
    },
    /// No socket could be opened, for this reason. The program runs on, and cannot be controlled from
    /// outside.
    #[error(
        "the process cannot be controlled from outside: {0}; set CPU_PROF_SOCKET to a folder of yours, or to \
         off"
    )]
    NoSocket(String),
    /// The labels of samples are not recorded. The recording goes on.
    #[error("labels are not recorded: {0}; the recording goes on without them")]
    Labels(String),
    /// Some label sets are not remembered. The recording goes on.
    #[error(
        "some samples have the label '(too many)=true': the program uses more label sets at once than are remembered; \
         label with values that repeat, such as a route"
    )]
    ManyLabels,
    /// Native frames are not recorded, for this reason. The recording goes on.
    #[error("native frames are not recorded: {0}; the recording goes on without them")]
    Native(String),
    /// Threads that run no JavaScript are not recorded, or no longer, for this reason. The recording goes on.
    #[error("native threads are not recorded: {0}; the recording goes on without them")]
    NativeThreads(String),
    /// What a signal handler reads of a thread, labels and native frames, is not recorded. The recording goes on.
    #[error("labels and native frames of a thread are not recorded: {0}; the recording goes on")]
    Unread(String),
    /// Profiles are not sent to a server. The recording goes on.
    #[error("profiles are not sent: {0}; the recording goes on")]
    Push(String),
    /// Node was built without an inspector, or does not offer it to this thread.
    #[error("not profiling this thread: it has no inspector (try CPU_PROF_SOURCE=v8)")]
    NoInspector,
    /// The thread is being terminated, so calls into it fail. The user need not know.
    #[error("not profiling this thread: it is being terminated")]
    Terminated,
    /// An old part of a recording, a file, could not be removed for the system's reason. The recording
    /// goes on.
    #[error(
        "could not remove {}: {}; the recording goes on, and may exceed its limit",
        .0.display(), .1
    )]
    Removal(PathBuf, io::Error),
    /// Events of the program came faster than they could be written. The recording goes on.
    #[error(
        "dropped events of the program: more than 16 MB came between two writes; the recording goes \
         on without them"
    )]
    DroppedEvents,
    /// A trace could not be written for now. The recording goes on.
    #[error(
        "could not write {}: {}{}; the recording goes on, without the time until the file can \
         be written again",
        .0.display(), .1, advice(.1)
    )]
    Unwritten(PathBuf, io::Error),
    /// A trace was removed and could not be written again. The recording goes on.
    #[error(
        "{} was removed, and could not be written again: {}{}; this is tried until the program \
         ends",
        .0.display(), .1, advice(.1)
    )]
    Removed(PathBuf, io::Error),
    /// Others have cut a trace off while it was written. The recording goes on.
    #[error(
        "{} was cut off while it was written, as a log rotation with copytruncate does; it is begun anew, and lacks \
         what came before: leave traces out of the rotation (CPU_PROF_KEEP limits them)",
        .0.display()
    )]
    Cut(PathBuf),
    /// The next file of a recording could not be created. The recording goes on.
    #[error(
        "could not create {}: {}{}; the recording goes on in the file before, and ends when \
         that file alone has the size of the limit",
        .0.display(), .1, advice(.1)
    )]
    NextFile(PathBuf, io::Error),
    /// A file could not be created where it belongs, and is in another place.
    #[error("could not create {}: {source}; the profile is in {}", .path.display(), .place.display())]
    OtherPlace {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
        /// The file in the other place.
        place: PathBuf,
    },
    /// A file could not be created or written. The program runs on unprofiled.
    #[error("could not {action} {}: {source}{}", .path.display(), advice(.source))]
    Output {
        /// The step that failed (`create`, `write`, `rename`).
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// Returns whether a preloaded program must be stopped before its first line.
    pub fn is_wrong_setting(&self) -> bool {
        matches!(self, Error::Setting { .. })
    }

    /// Returns the error as `of_file` describes it, if it is that of a file.
    pub fn described(self, of_file: impl FnOnce(PathBuf, io::Error) -> Self) -> Self {
        match self {
            Error::Output { path, source, .. } => of_file(path, source),
            other => other,
        }
    }

    /// Returns whether the recording goes on after an error that came while it ran.
    pub fn can_pass(&self) -> bool {
        matches!(
            self,
            Error::Unwritten(..)
                | Error::Removed(..)
                | Error::NextFile(..)
                | Error::OtherPlace { .. }
        )
    }

    /// Returns whether the process lacks the right to write a file.
    pub fn is_of_rights(&self) -> bool {
        matches!(self, Error::Output { source, .. }
            if source.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Returns one line for stderr: what happened, and what to do.
    ///
    /// Control characters become spaces: a path may hold a newline, or an escape sequence that
    /// would colour the terminal.
    pub fn line(&self) -> String {
        let consequence = match self {
            Error::Output { .. } => "; the program runs on unprofiled",
            _ => "",
        };
        format!("cpu-prof: {self}{consequence}").replace(char::is_control, " ")
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (set CPU_PROF_DIR to a writable directory)"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (free some space, or set CPU_PROF_DIR to a directory on another disk)"
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
    fn only_a_wrong_setting_stops_the_program() {
        assert!(!Error::Unavailable("x".into()).is_wrong_setting());
        let wrong = Error::Setting { name: "A", value: "b".into(), allowed: "c".into() };
        assert!(wrong.is_wrong_setting());
        assert_eq!(wrong.line(), "cpu-prof: A=b is not valid: c");
    }
}
