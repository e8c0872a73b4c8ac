//! The time of a thread in each of its states.

use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::json::ReportTimes;
use cpu_prof_session::model::Thread;

/// Returns the sums of a thread's times.
pub fn thread_times(thread: &Thread, index: &FrameIndex) -> ReportTimes {
    let mut times = ReportTimes::default();
    let (mut waiting_us, mut blocked_us) = (0_u64, 0_u64);
    let profiles = || thread.profiles.iter();
    for (node, of_node) in profiles().flat_map(|profile| profile.timed_nodes()) {
        let sum = match index.kind(node.frame) {
            FrameKind::Function(function) if index.is_machine_code(function) => {
                &mut times.native_us
            }
            FrameKind::Function(_) => &mut times.javascript_us,
            FrameKind::Idle => &mut times.idle_us,
            FrameKind::Gc => &mut times.gc_us,
            FrameKind::Program => &mut times.native_us,
            FrameKind::Unrecorded => continue,
        };
        *sum = sum.saturating_add(of_node.self_us);
        waiting_us = waiting_us.saturating_add(of_node.waiting_us);
        blocked_us = blocked_us.saturating_add(of_node.blocked_us);
    }
    // That a thread of a pool had nothing to do says nothing about the program.
    if thread.is_native() {
        times.idle_us = 0;
    }
    // In other recordings, threads that wait and calls that block seem to work.
    times.waiting_us = profiles().any(|profile| profile.tells_waiting).then_some(waiting_us);
    times.blocked_us = profiles().any(|profile| profile.tells_blocked).then_some(blocked_us);
    times
}

/// Returns the sums of the times of all threads.
pub fn sum_of_times(list: impl Iterator<Item = ReportTimes>) -> ReportTimes {
    let known = |sum: Option<u64>, us: Option<u64>| match (sum, us) {
        (Some(sum), Some(us)) => Some(sum.saturating_add(us)),
        (sum, us) => sum.or(us),
    };
    list.fold(ReportTimes::default(), |sum, times| ReportTimes {
        javascript_us: sum.javascript_us.saturating_add(times.javascript_us),
        native_us: sum.native_us.saturating_add(times.native_us),
        gc_us: sum.gc_us.saturating_add(times.gc_us),
        waiting_us: known(sum.waiting_us, times.waiting_us),
        blocked_us: known(sum.blocked_us, times.blocked_us),
        idle_us: sum.idle_us.saturating_add(times.idle_us),
    })
}
