//! The parts that the chain consists of.

use std::collections::BTreeSet;

/// A part of the chain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainPart {
    /// Name of the process, with the folder if processes ran in several; none where no process ran or all
    /// were idle.
    pub label: Option<String>,
    /// What the process did; none where nothing names that.
    pub phase: Option<String>,
    /// Length, microseconds.
    pub us: i64,
    /// Time of the length in which no thread of the process worked or was blocked, microseconds.
    pub idle_us: i64,
    /// Indices of the processes that the part stands for.
    pub processes: BTreeSet<usize>,
}

impl ChainPart {
    /// Returns whether both have one name.
    pub(super) fn is_named_as(&self, other: &Self) -> bool {
        (&self.label, &self.phase) == (&other.label, &other.phase)
    }

    /// Adds the time and the processes of another part.
    pub(super) fn add(&mut self, other: &Self) {
        self.add_time(other);
        self.processes.extend(&other.processes);
    }

    /// Adds the time of another part.
    pub(super) fn add_time(&mut self, other: &Self) {
        self.us = self.us.saturating_add(other.us);
        self.idle_us = self.idle_us.saturating_add(other.idle_us);
    }
}
