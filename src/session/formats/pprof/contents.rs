//! What a pprof file has, once it is read.

use crate::model::Process;
use crate::model::frame_table::FrameTable;
use cpu_prof_core::profile::label_table::LabelTable;

/// What a file has.
#[derive(Debug)]
pub struct PprofContents {
    /// Processes with their threads.
    pub processes: Vec<Process>,
    /// Call frames.
    pub frames: FrameTable,
    /// Label sets.
    pub labels: LabelTable,
    /// What a user should know about the times, a sentence each.
    pub notes: Vec<String>,
}
