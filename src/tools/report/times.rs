//! What threads did, as sums.

use super::frame_index::{FrameIndex, FrameKind};
use super::shape::ReportTimes;
use crate::profile::session::Thread;

impl ReportTimes {
    /// Returns the time of work: the tables share it out.
    pub(super) fn work_us(&self) -> u64 {
        self.busy_us.saturating_add(self.gc_us).saturating_add(self.program_us)
    }
}

/// Returns what a thread did.
pub(super) fn thread_times(thread: &Thread, index: &FrameIndex) -> ReportTimes {
    let mut times = ReportTimes::default();
    for node in thread.profiles.iter().flat_map(|profile| &profile.nodes) {
        let sum = match index.kind(node.frame) {
            FrameKind::Function(_) => &mut times.busy_us,
            FrameKind::Idle => &mut times.idle_us,
            FrameKind::Gc => &mut times.gc_us,
            FrameKind::Program => &mut times.program_us,
            FrameKind::Unrecorded => continue,
        };
        *sum = sum.saturating_add(node.self_us);
        times.blocked_us = times.blocked_us.saturating_add(node.blocked_us);
    }
    times
}
