//! The threads of the inputs that go into the trace.

use rustc_hash::FxHashSet;

use super::foreign_pid::ForeignPid;

/// A process of the inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InputProcess {
    /// Index of a recorded process.
    Recorded(usize),
    /// Index of the input, and the input's own id of the process.
    Other(usize, ForeignPid),
}

/// The processes and threads that go into the trace.
#[derive(Debug, Default)]
pub struct ChosenThreads {
    /// Those that stay; none for all.
    kept: Option<FxHashSet<(InputProcess, u32)>>,
}

impl ChosenThreads {
    /// Returns a choice of these threads.
    pub fn of(kept: impl Iterator<Item = (InputProcess, u32)>) -> Self {
        Self { kept: Some(kept.collect()) }
    }

    /// Returns whether all threads stay.
    pub(crate) fn keeps_all(&self) -> bool {
        self.kept.is_none()
    }

    /// Returns whether any thread of a process stays.
    pub(crate) fn keeps_process(&self, process: &InputProcess) -> bool {
        let is_of = |(of, _): &(InputProcess, u32)| of == process;
        self.kept.as_ref().is_none_or(|kept| kept.iter().any(is_of))
    }

    /// Returns whether a thread stays.
    pub(crate) fn keeps_thread(&self, process: InputProcess, tid: u32) -> bool {
        self.kept.as_ref().is_none_or(|kept| kept.contains(&(process, tid)))
    }
}
