//! The end of a process that a signal killed, and what the process was doing.

use rustc_hash::FxHashSet;

use super::thresholds::{LAST_FUNCTION_PART, LAST_FUNCTION_US, NEARLY_ALWAYS};
use crate::analysis::frame_index::{FrameIndex, FrameKind};
use crate::analysis::process::session_view::SessionView;
use cpu_prof_core::profile::package::is_built_in;
use cpu_prof_session::model::Process;
use cpu_prof_session::model::lists::steps::StepSpan;
use cpu_prof_session::model::thread_profile::{NONE, ThreadProfile};

/// Signals by which a user or a parent ends a program on purpose.
const ON_PURPOSE: [&str; 4] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"];
/// Steps before the end that are looked at.
const MAX_STEPS: usize = 100_000;

/// The end of a process by a signal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Death {
    /// Index of the process.
    pub process: usize,
    pub signal: String,
    /// Time from the start of the recording to its last sample, microseconds.
    pub after_us: i64,
    /// Function that was running, by its index, and for how long: microseconds.
    pub function: Option<(usize, i64)>,
    /// The largest heap, bytes.
    pub heap_peak: Option<u64>,
}

/// Returns the first process that a signal has killed, the one that started all others before any other.
pub(super) fn death(view: &SessionView<'_>) -> Option<Death> {
    let killed = |process: &Process| {
        let signal = process.ending.as_ref()?.signal.clone()?;
        (!ON_PURPOSE.contains(&signal.as_str())).then_some(signal)
    };
    let mut all = view.session.processes.iter().enumerate();
    all.find_map(|(number, process)| {
        let signal = killed(process)?;
        let main = process.threads.iter().find(|thread| thread.is_main());
        let last = main.and_then(|thread| thread.profiles.last());
        Some(Death {
            process: number,
            signal,
            after_us: process.end_us().saturating_sub(process.start_us()),
            function: last.and_then(|profile| last_function(profile, &view.index)),
            heap_peak: last.and_then(|profile| profile.memory).map(|memory| memory.peak.heap_used),
        })
    })
}

/// Returns the innermost function, Node's aside, that was on the stack for long up to the end, and that time.
/// Short calls of its caller in between do not end the time.
fn last_function(profile: &ThreadProfile, index: &FrameIndex) -> Option<(usize, i64)> {
    let function = |node: u32| index.function(profile.nodes[node as usize].frame);
    // Collections have no stack.
    let is_gc =
        |step: &StepSpan| index.kind(profile.nodes[step.node as usize].frame) == FrameKind::Gc;
    let all: Vec<_> = profile.steps.spans().filter(|step| !is_gc(step)).collect();
    let last = all.last()?;
    let is_code = |function: usize| {
        !is_built_in(&index.packages[index.files[index.functions[function].file].package])
    };
    let mut stack: Vec<usize> =
        path(profile, last.node).into_iter().filter_map(function).filter(|f| is_code(*f)).collect();
    stack.dedup();
    // For each function of the last stack: time on the stack, and the longest time that it filled.
    let mut times = vec![(0, 0); stack.len()];
    let mut whole_us = 0;
    for step in all.iter().rev().take(MAX_STEPS) {
        let us = step.to_us.saturating_sub(step.from_us);
        let here: FxHashSet<usize> =
            path(profile, step.node).into_iter().filter_map(function).collect();
        whole_us += us;
        for (function, (on_stack_us, filled_us)) in stack.iter().zip(&mut times) {
            if here.contains(function) {
                *on_stack_us += us;
                if *on_stack_us as f64 >= NEARLY_ALWAYS * whole_us as f64 {
                    *filled_us = profile.end_us.saturating_sub(step.from_us);
                }
            }
        }
    }
    let length_us = profile.end_us.saturating_sub(profile.start_us) as f64;
    let least_us = LAST_FUNCTION_US.max((LAST_FUNCTION_PART * length_us) as i64);
    let long = stack.into_iter().zip(times).filter(|(_, (_, filled_us))| *filled_us >= least_us);
    long.map(|(function, (_, us))| (function, us)).next_back()
}

/// Returns the nodes of a stack, the outermost first.
fn path(profile: &ThreadProfile, mut node: u32) -> Vec<u32> {
    let mut path = Vec::new();
    while node != NONE {
        path.push(node);
        node = profile.nodes[node as usize].parent;
    }
    path.reverse();
    path
}
