//! The labels of our files: those that place a sample, and those that the program gave its work.

use std::borrow::Cow;

/// Name of the process.
pub(in super::super) const PROCESS: &str = "process";
/// Process id, a number; none where it is not known.
pub(in super::super) const PID: &str = "pid";
/// Name of the thread.
pub(in super::super) const THREAD: &str = "thread";
/// Thread id of a worker or a native thread, a number.
pub(in super::super) const WORKER: &str = "worker";
/// Package of the function on top.
pub(in super::super) const PACKAGE: &str = "package";
/// Why the thread was not on a core.
pub(in super::super) const STATE: &str = "state";
/// Values of [`STATE`].
pub(in super::super) const BLOCKED: &str = "blocked";
pub(in super::super) const WAITING: &str = "waiting";

const OURS: [&str; 6] = [PROCESS, PID, THREAD, WORKER, PACKAGE, STATE];
/// Stands before a key of the program that is one of ours.
const PREFIX: &str = "label.";

/// Returns the key in the file for a key of the program.
pub(in super::super) fn key_of_program(key: &str) -> Cow<'_, str> {
    match OURS.contains(&key) || key.starts_with(PREFIX) {
        true => format!("{PREFIX}{key}").into(),
        false => key.into(),
    }
}

/// Returns the program's key for a key in a file of ours; none for a key of ours.
pub(in super::super) fn program_key(key: &str) -> Option<&str> {
    (!OURS.contains(&key)).then(|| key.strip_prefix(PREFIX).unwrap_or(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_programs_come_back() {
        for key in ["route", "thread", "label.thread", "label.", "", "pid"] {
            assert_eq!(program_key(&key_of_program(key)), Some(key), "{key}");
        }
        assert_eq!(program_key("thread"), None);
        assert_eq!(key_of_program("route"), "route");
    }
}
