//! The CPU time of processes by the system's count: of threads that run JavaScript, of other threads,
//! and of other programs.

use super::session_view::SessionView;
use crate::analysis::json::ReportCpu;
use cpu_prof_core::profile::cpu_use::CpuUse;
use cpu_prof_session::model::{Process, Thread};

/// The CPU time of a Node process outside of its recording: Node has started before the recording
/// starts, and ends after the recording ends.
const END_US: f64 = 15_000.0;

/// Returns the CPU times of each process of a session; none for a process without counters.
/// `is_slice` is whether time of the recordings was left out.
pub(crate) fn cpu_of_processes(view: &SessionView<'_>, is_slice: bool) -> Vec<Option<ReportCpu>> {
    let of = |(index, process): (usize, &Process)| {
        let main = main_use(process)?;
        let process_us = main.iter().filter_map(|cpu| cpu.process_cpu_us).sum::<f64>();
        let javascript = process.threads.iter().filter(|thread| !thread.is_native());
        let javascript_us: f64 = javascript.flat_map(uses).map(|cpu| cpu.cpu_us).sum();
        // A slice begins in the middle of a child, whose time the system counts at the child's end.
        let others_us = (!is_slice).then(|| others_us(view, index)).flatten();
        Some(ReportCpu {
            javascript_us: whole(javascript_us),
            native_us: whole(process_us - javascript_us),
            others_us: others_us.map(whole),
        })
    };
    view.session.processes.iter().enumerate().map(of).collect()
}

/// Returns the CPU time of other programs that a process has started: the time of its children that
/// have ended, without the recorded ones.
fn others_us(view: &SessionView<'_>, index: usize) -> Option<f64> {
    let process = &view.session.processes[index];
    let mut us = main_use(process)?.last()?.last.children_cpu_us? as f64;
    for (child, parent) in view.session.processes.iter().zip(&view.parents) {
        if *parent != Some(index) || child.end_us() > process.end_us() {
            continue;
        }
        let last = main_use(child).and_then(|cpu| cpu.last().map(|cpu| cpu.last));
        let last = last.unwrap_or_default();
        let child_us = last.process_cpu_us.unwrap_or(0) + last.children_cpu_us.unwrap_or(0);
        us -= child_us as f64 + END_US;
    }
    Some(us)
}

/// Returns the CPU time of a process before its recording: the start of Node. Microseconds.
pub fn start_us(process: &Process) -> f64 {
    let recorded = main_use(process).unwrap_or_default();
    let all_us = recorded.last().and_then(|cpu| cpu.last.process_cpu_us).unwrap_or(0);
    let recorded_us: f64 = recorded.iter().filter_map(|cpu| cpu.process_cpu_us).sum();
    (all_us as f64 - recorded_us).max(0.0)
}

/// Returns the counts of each recording of the main thread; none if the counts lack the process.
fn main_use(process: &Process) -> Option<Vec<&CpuUse>> {
    let main = process.threads.iter().find(|thread| thread.is_main())?;
    let uses: Vec<_> = uses(main).collect();
    uses.iter().any(|cpu| cpu.process_cpu_us.is_some()).then_some(uses)
}

/// Returns the counts of each recording of a thread.
pub fn uses(thread: &Thread) -> impl Iterator<Item = &CpuUse> {
    thread.profiles.iter().filter_map(|profile| profile.cpu.as_ref())
}

/// Returns the sum of a count of all recordings of a thread, microseconds; none if a recording has no such
/// count.
pub fn counted_us(thread: &Thread, count_us: impl Fn(&CpuUse) -> Option<f64>) -> Option<u64> {
    let counts: Vec<f64> = uses(thread).filter_map(count_us).collect();
    (counts.len() == thread.profiles.len()).then(|| whole(counts.into_iter().sum()))
}

/// Returns whole microseconds.
pub fn whole(us: f64) -> u64 {
    us.max(0.0) as u64
}
