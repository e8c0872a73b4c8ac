//! What the files of a recording hold.

use std::path::PathBuf;

use super::complete_segment::{CompleteSegment, SegmentContents};

/// Contents of a recording's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RecordingTotals {
    /// Absolute paths of the files that exist.
    pub files: Vec<PathBuf>,
    /// Number of samples in the files that the recording has not removed.
    pub samples: u64,
    /// Number of call-tree nodes in these files.
    pub nodes: u64,
    /// Number of samples that could not be written.
    pub dropped_samples: u64,
    /// Number of the program's events that could not be written.
    pub dropped_events: u64,
}

impl RecordingTotals {
    /// Returns the trace that was written last.
    pub(crate) fn last_trace(&self) -> Option<PathBuf> {
        let is_trace = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "json");
        self.files.iter().rfind(is_trace).cloned()
    }

    /// Takes out segments that another recording continues.
    pub(crate) fn take_out(&mut self, segments: &[CompleteSegment]) {
        self.files.retain(|file| segments.iter().all(|segment| segment.file.path != *file));
        for SegmentContents { samples, nodes } in segments.iter().map(|each| each.contents) {
            self.samples = self.samples.saturating_sub(samples);
            self.nodes = self.nodes.saturating_sub(nodes);
        }
    }

    /// Adds the contents of another recording's files.
    pub(crate) fn add(&mut self, other: RecordingTotals) {
        self.files.extend(other.files);
        self.samples += other.samples;
        self.nodes += other.nodes;
        self.dropped_samples += other.dropped_samples;
        self.dropped_events += other.dropped_events;
    }
}
