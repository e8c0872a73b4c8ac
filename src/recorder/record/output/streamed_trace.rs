//! The trace of a recording with what was written into it.

use super::written_time::WrittenTime;
use crate::record::files::segments::TraceSegments;
use cpu_prof_core::profile::window::call_tree::CallTree;

/// The trace of a recording, which grows with each window.
pub(super) struct StreamedTrace {
    /// Files of the trace.
    pub segments: TraceSegments,
    /// Call tree of the current file.
    pub tree: CallTree,
    /// Up to when the trace is written.
    pub written: WrittenTime,
}

impl StreamedTrace {
    /// Returns a trace without windows, whose call tree remembers so many nodes.
    pub(super) fn new(segments: TraceSegments, max_nodes: usize, start_us: i64) -> Self {
        let written = WrittenTime::starting_at(start_us);
        Self { segments, tree: CallTree::new(max_nodes), written }
    }

    /// Lets a file that starts now announce its nodes itself.
    pub(super) fn begin_file(&mut self, start_us: i64) {
        self.tree.clear();
        self.written = WrittenTime::starting_at(start_us);
    }
}
