//! What other traces tell of their processes, for the metadata.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

/// What other traces tell of their processes.
#[derive(Debug, Default)]
pub(crate) struct ForeignFacts {
    /// Facts about processes of merged traces, by their pids in the output.
    pub(super) merged: Vec<(u32, Map<String, Value>)>,
    /// Pids in the output of processes whose times are far from those of the recordings.
    pub(super) far: FxHashSet<u32>,
}

impl ForeignFacts {
    /// Adds the facts about a process of a merged trace, by its pid in the output.
    pub(crate) fn add(&mut self, pid: u32, facts: Map<String, Value>) {
        self.merged.push((pid, facts));
    }

    /// Notes processes whose times are far from those of the recordings.
    pub(crate) fn set_far(&mut self, pids: impl Iterator<Item = u32>) {
        self.far.extend(pids);
    }
}
