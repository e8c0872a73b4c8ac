//! The end of a process that a signal killed, and what the process was doing.

use crate::shared::frame_index::{FrameIndex, FrameKind};
use cpu_prof_core::profile::package::is_built_in;
use cpu_prof_core::profile::session::steps::StepSpan;
use cpu_prof_core::profile::session::thread_profile::{NONE, ThreadProfile};
use cpu_prof_core::profile::session::{Process, Session};

/// Signals by which a user or a parent ends a program on purpose.
const ON_PURPOSE: [&str; 4] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"];
/// The shortest time in a function that says what a process was doing, microseconds.
const MIN_IN_FUNCTION_US: i64 = 200_000;
/// The same as part of the process's time.
const MIN_PART: f64 = 0.02;

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
pub(super) fn death(session: &Session, index: &FrameIndex) -> Option<Death> {
    let killed = |process: &Process| {
        let signal = process.ending.as_ref()?.signal.clone()?;
        (!ON_PURPOSE.contains(&signal.as_str())).then_some(signal)
    };
    let mut all = session.processes.iter().enumerate();
    all.find_map(|(number, process)| {
        let signal = killed(process)?;
        let main = process.threads.iter().find(|thread| thread.is_main());
        let last = main.and_then(|thread| thread.profiles.last());
        Some(Death {
            process: number,
            signal,
            after_us: process.end_us().saturating_sub(process.start_us()),
            function: last.and_then(|profile| last_function(profile, index)),
            heap_peak: last.and_then(|profile| profile.memory).map(|memory| memory.peak.heap_used),
        })
    })
}

/// Returns the innermost function, Node's aside, that was on the stack for long up to the end, and that time.
fn last_function(profile: &ThreadProfile, index: &FrameIndex) -> Option<(usize, i64)> {
    // Collections have no stack.
    let is_function = |step: &StepSpan| {
        matches!(index.kind(profile.nodes[step.node as usize].frame), FrameKind::Function(_))
    };
    let is_idle =
        |step: &StepSpan| index.kind(profile.nodes[step.node as usize].frame) == FrameKind::Idle;
    let all = profile.steps.spans();
    let steps: Vec<_> = all.filter(|step| is_function(step) || is_idle(step)).collect();
    let last = steps.last()?;
    let mut stack = path(profile, last.node);
    // Nodes with the time since which they are on the stack, the innermost last.
    let mut starts: Vec<(u32, i64)> = stack.iter().map(|node| (*node, last.from_us)).collect();
    for step in steps.iter().rev() {
        let other = path(profile, step.node);
        let common = stack.iter().zip(&other).take_while(|(one, other)| one == other).count();
        stack.truncate(common);
        for (_, start_us) in &mut starts[..common] {
            *start_us = step.from_us;
        }
        if common == 0 {
            break;
        }
    }
    let length_us = profile.end_us.saturating_sub(profile.start_us) as f64;
    let least_us = MIN_IN_FUNCTION_US.max((MIN_PART * length_us) as i64);
    starts.into_iter().rev().find_map(|(node, start_us)| {
        let us = profile.end_us.saturating_sub(start_us);
        let function = index.function(profile.nodes[node as usize].frame)?;
        let package = &index.packages[index.files[index.functions[function].file].package];
        (us >= least_us && !is_built_in(package)).then_some((function, us))
    })
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
