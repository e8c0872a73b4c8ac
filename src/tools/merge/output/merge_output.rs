//! All that a merge writes, and what is unique in the trace.

use std::path::Path;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::mapped_frames::MappedFrames;
use super::process_labels::Labels;
use super::profile_ids::ProfileIds;
use super::slice::OutputSlice;
use super::stack_frames::StackFrames;
use super::trace::OutputTrace;
use crate::merge::inputs::taken_pids::TakenPids;
use crate::merge::options::MergeOptions;
use crate::merge::result::MergeError;

/// The output of a merge.
pub struct MergeOutput {
    pub trace: OutputTrace,
    pub labels: Labels,
    pub pids: TakenPids,
    pub profile_ids: ProfileIds,
    pub stack_frames: StackFrames,
    /// Frames, and their places in the sources.
    pub frames: MappedFrames,
    /// Facts about processes of merged traces, by their pids in the output.
    pub merged_facts: Vec<(u32, Map<String, Value>)>,
    /// Pids in the output of processes whose times are far from those of the recordings.
    pub far_pids: FxHashSet<u32>,
}

impl MergeOutput {
    /// Begins a trace beside `path`. `pids` are those of the recorded processes.
    pub fn create(
        path: &Path,
        slice: OutputSlice,
        pids: TakenPids,
        options: &MergeOptions,
    ) -> Result<Self, MergeError> {
        Ok(Self {
            trace: OutputTrace::create(path, slice)?,
            labels: Labels::default(),
            pids,
            profile_ids: ProfileIds::default(),
            stack_frames: StackFrames::new(path),
            frames: MappedFrames::new(options.source_maps, &options.places),
            merged_facts: Vec::new(),
            far_pids: FxHashSet::default(),
        })
    }

    /// Returns whether profiles pass unchanged.
    pub(crate) fn copies_profiles(&self, options: &MergeOptions) -> bool {
        self.trace.slice.is_everything() && !options.changes_samples()
    }
}
