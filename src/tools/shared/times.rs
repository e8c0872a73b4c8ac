//! The times of a thread: busy, idle, and in garbage collections.

use super::frame_index::{FrameIndex, FrameKind};
use super::json::ReportTimes;
use cpu_prof_core::profile::session::Thread;

/// Returns the sums of a thread's times.
pub(crate) fn thread_times(thread: &Thread, index: &FrameIndex) -> ReportTimes {
    let mut times = ReportTimes::default();
    let mut blocked_us: u64 = 0;
    for node in thread.profiles.iter().flat_map(|profile| &profile.nodes) {
        let sum = match index.kind(node.frame) {
            FrameKind::Function(_) => &mut times.busy_us,
            FrameKind::Idle => &mut times.idle_us,
            FrameKind::Gc => &mut times.gc_us,
            FrameKind::Program => &mut times.program_us,
            FrameKind::Unrecorded => continue,
        };
        *sum = sum.saturating_add(node.self_us);
        blocked_us = blocked_us.saturating_add(node.blocked_us);
    }
    // In other recordings, calls that wait are busy.
    let is_told = thread.profiles.iter().any(|profile| profile.tells_blocked);
    times.blocked_us = is_told.then_some(blocked_us);
    times
}

/// Returns the sums of the times of all threads.
pub(crate) fn sum_of_times(list: impl Iterator<Item = ReportTimes>) -> ReportTimes {
    list.fold(ReportTimes::default(), |sum, times| ReportTimes {
        busy_us: sum.busy_us.saturating_add(times.busy_us),
        idle_us: sum.idle_us.saturating_add(times.idle_us),
        gc_us: sum.gc_us.saturating_add(times.gc_us),
        program_us: sum.program_us.saturating_add(times.program_us),
        blocked_us: match (sum.blocked_us, times.blocked_us) {
            (Some(sum), Some(us)) => Some(sum.saturating_add(us)),
            (sum, us) => sum.or(us),
        },
    })
}
