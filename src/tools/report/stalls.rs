//! The longest times in which a thread did not come back to its event loop.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::json::{ReportCall, ReportStall};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::json::ms;
use crate::analysis::process::session_view::SessionView;
use crate::analysis::samples::{SampleSpan, spans};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::profile::off_core::OffCore;
use cpu_prof_session::model::thread_profile::{NONE, ProfileNode, ThreadProfile};
use cpu_prof_session::model::{Process, Thread};

/// Part of a stall that a function needs to be on the heaviest stack.
const MOST: f64 = 0.5;

/// A time without idle samples.
#[derive(Default)]
struct Burst {
    /// Start, microseconds.
    start_us: i64,
    /// Whether the recording begins with the burst: the main script or the worker's script runs.
    is_first: bool,
    us: u64,
    gc_us: u64,
    blocked_us: u64,
    waiting_us: u64,
    /// Time of each node on top of the stack.
    nodes: FxHashMap<u32, u64>,
}

/// Returns the longest times without idle samples, of `least_us` or more, the longest first.
pub(super) fn stalls<'a>(
    view: &'a SessionView<'_>,
    least_us: u64,
    top: usize,
) -> Vec<ReportStall<'a>> {
    let &SessionView { session, ref index, .. } = view;
    let mut list = Vec::new();
    for process in &session.processes {
        for thread in &process.threads {
            for profile in &thread.profiles {
                let long = bursts(profile, index).into_iter().filter(|burst| burst.us >= least_us);
                list.extend(long.map(|burst| (burst, process, thread, profile)));
            }
        }
    }
    list.cold_sort_by_key(|(burst, ..)| Reverse(burst.us));
    list.truncate(top);
    let stall = |(burst, process, thread, profile): (Burst, &'a Process, &'a Thread, _)| {
        let start_us = burst.start_us.saturating_sub(session.clock(process).start_us);
        ReportStall {
            pid: process.pid,
            process: &process.command,
            thread_id: thread.id,
            thread: thread.full_name(),
            start_ms: ms(start_us.max(0).unsigned_abs()),
            duration_ms: ms(burst.us),
            gc_ms: ms(burst.gc_us),
            blocked_ms: ms(burst.blocked_us),
            waiting_ms: ms(burst.waiting_us),
            first: burst.is_first,
            stack: heaviest_stack(&burst, profile, index),
        }
    };
    list.into_iter().map(stall).collect()
}

/// Returns the times between the idle samples of a recording.
fn bursts(profile: &ThreadProfile, index: &FrameIndex) -> Vec<Burst> {
    let kind = |node: u32| index.kind(profile.nodes[node as usize].frame);
    let mut list = Vec::new();
    let mut burst: Option<Burst> = None;
    let mut at_us = profile.start_us;
    for SampleSpan { sample, us } in spans(profile, None) {
        let start_us = at_us;
        at_us = at_us.saturating_add(us);
        let is_idle = sample.off_core == Some(OffCore::Idle);
        if sample.node == NONE || is_idle || kind(sample.node) == FrameKind::Idle {
            list.extend(burst.take());
            continue;
        }
        let burst = burst.get_or_insert_with(|| Burst {
            start_us,
            is_first: list.is_empty(),
            ..Burst::default()
        });
        let us = us.unsigned_abs();
        burst.us += us;
        burst.gc_us += if kind(sample.node) == FrameKind::Gc { us } else { 0 };
        burst.blocked_us += if sample.off_core == Some(OffCore::Blocked) { us } else { 0 };
        burst.waiting_us += if sample.off_core == Some(OffCore::Waiting) { us } else { 0 };
        *burst.nodes.entry(sample.node).or_default() += us;
    }
    list.extend(burst);
    list
}

/// Returns the functions that were on the stack for most of a burst, the outermost first.
fn heaviest_stack<'a>(
    burst: &Burst,
    profile: &ThreadProfile,
    index: &'a FrameIndex,
) -> Vec<ReportCall<'a>> {
    // By the index of the node above and the frame: samples of one stack with other labels have other nodes.
    let mut totals: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    for (node, us) in &burst.nodes {
        let mut at = *node;
        while at != NONE {
            let ProfileNode { parent, frame, .. } = profile.nodes[at as usize];
            *totals.entry((parent, frame)).or_default() += us;
            at = parent;
        }
    }
    let least_us = (burst.us as f64 * MOST) as u64;
    // Of nodes that make up most of the burst, each is below the other.
    let mut heavy: Vec<_> = totals.into_iter().filter(|(_, us)| *us > least_us).collect();
    // Nodes stand behind those above; none is above the first.
    heavy.sort_unstable_by_key(|((above, _), us)| (Reverse(*us), above.wrapping_add(1)));
    let call = |((_, frame), total_us): ((u32, u32), u64)| {
        let function = index.place(index.function(frame)?);
        Some(ReportCall { function: Some(function), total_us })
    };
    heavy.into_iter().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::frame::CallFrame;
    use cpu_prof_core::profile::position::SourcePosition;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_session::model::builder::ProfileBuilder;
    use cpu_prof_session::model::{Clock, Session};

    /// Returns a session of one thread with stacks of ten milliseconds each.
    fn session(stacks: &[&[&str]]) -> Session {
        let mut session = Session::default();
        let mut builder = ProfileBuilder::new(1000, ReadScope::ALL);
        let mut ids: FxHashMap<Vec<&str>, u64> = FxHashMap::default();
        for stack in stacks {
            let mut parent = None;
            for end in 1..=stack.len() {
                let next = ids.len() as u64 + 1;
                let id = *ids.entry(stack[..end].to_vec()).or_insert(next);
                let name = stack[end - 1];
                let frame = match name.starts_with('(') {
                    true => CallFrame::state(name),
                    false => CallFrame {
                        function_name: name.into(),
                        url: "/r/a.js".into(),
                        script_id: 7,
                        line: 3,
                        ..CallFrame::root()
                    },
                };
                builder.announce(id, parent, session.frames.number(frame));
                parent = Some(id);
            }
            builder.sample(parent.unwrap(), 10_000, SourcePosition::default());
        }
        builder.extend_to(1000 + 10_000 * (stacks.len() as i64 + 1));
        let threads = vec![Thread {
            name: "main".into(),
            profiles: vec![builder.finish()],
            ..Thread::default()
        }];
        session.processes.push(Process { pid: 7, threads, ..Process::default() });
        session.clocks.push(Clock { start_us: 1000, end_us: 1_000_000, ..Clock::default() });
        session
    }

    #[test]
    fn a_stall_lasts_from_idle_to_idle_and_has_its_heaviest_stack() {
        let session = session(&[
            &["main"],
            &["(idle)"],
            &["serve", "parse"],
            &["serve", "slow", "inner"],
            &["(garbage collector)"],
            &["serve", "slow", "other"],
            &["serve", "slow", "inner"],
            &["serve", "slow", "inner"],
            &["(idle)"],
            &["serve", "parse"],
            &["(idle)"],
        ]);
        let view = SessionView::of(&session);
        let found = stalls(&view, 10_000, 10);
        assert_eq!(found.len(), 3);
        let stall = &found[0];
        assert_eq!((stall.start_ms, stall.duration_ms, stall.gc_ms), (30.0, 60.0, 10.0));
        let name = |call: &ReportCall<'_>| call.function.as_ref().unwrap().name.to_owned();
        let stack: Vec<_> = stall.stack.iter().map(|call| (name(call), call.total_us)).collect();
        assert_eq!(stack, [("serve".to_owned(), 50_000), ("slow".to_owned(), 40_000)]);
        assert!(!stall.first);
        assert_eq!(found.iter().filter(|stall| stall.first).count(), 1);
        assert_eq!(stalls(&view, 20_000, 10).len(), 1);
        assert_eq!(stalls(&view, 10_000, 2).len(), 2);
    }
}
