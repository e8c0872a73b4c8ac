//! The pids that processes of a merged trace have.

use std::collections::BTreeSet;

/// First of the pids that no system assigns.
pub(super) const FREE_PIDS: u32 = 10_000_000;

/// Pids in the trace: each belongs to one process.
#[derive(Debug, Default, Clone)]
pub struct TakenPids(BTreeSet<u32>);

impl TakenPids {
    /// Takes this pid if it is free in the trace, else another one.
    pub fn take(&mut self, pid: u32) -> u32 {
        if self.0.insert(pid) { pid } else { self.take_free() }
    }

    /// Takes a pid that no system assigns.
    pub(crate) fn take_free(&mut self) -> u32 {
        let last = self.0.last().copied().unwrap_or_default();
        let free = last.saturating_add(1).max(FREE_PIDS);
        self.0.insert(free);
        free
    }
}
