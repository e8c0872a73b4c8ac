//! The processes of the inputs.

use super::foreign_pids::ForeignPid;

/// A process of the inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum InputProcess {
    /// Index of a recorded process.
    Recorded(usize),
    /// Index of the input, and the input's own id of the process.
    Other(usize, ForeignPid),
}
