//! A segment of a trace that is written to no more, and may be removed.

use cpu_prof_core::files::own_file::OwnFile;

/// Counts of what a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SegmentContents {
    /// Number of samples.
    pub samples: u64,
    /// Number of call-tree nodes.
    pub nodes: u64,
}

impl SegmentContents {
    /// Adds the contents of another segment, or of a window.
    pub(crate) fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.nodes += other.nodes;
    }
}

/// A segment that is written to no more.
#[derive(Debug)]
pub(crate) struct CompleteSegment {
    /// The file.
    pub(super) file: OwnFile,
    /// Size, bytes.
    pub(super) bytes: u64,
    /// End, microseconds.
    pub(super) end_us: i64,
    /// Counts of what the segment holds.
    pub(crate) contents: SegmentContents,
}
