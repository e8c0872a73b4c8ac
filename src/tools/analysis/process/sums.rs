//! The sums of each process that several parts of a result need.

use super::cpu::cpu_of_processes;
use super::session_view::SessionView;
use super::times::{sum_of_times, thread_times};
use crate::analysis::json::{ReportCpu, ReportNative, ReportTimes};
use crate::analysis::native::threads::native_threads;
use cpu_prof_session::model::Process;

/// The sums of a process.
pub struct ProcessSums<'a> {
    /// Times of the threads, in the order of the threads.
    pub threads: Vec<ReportTimes>,
    /// CPU times; none for a process without counters.
    pub cpu: Option<ReportCpu>,
    /// Native threads, the most CPU time first; none if the recording does not tell them.
    pub native: Option<Vec<ReportNative<'a>>>,
}

/// Returns the sums of all processes. `is_slice` is whether time of the recordings was left out.
pub(crate) fn process_sums<'a>(view: &'a SessionView<'_>, is_slice: bool) -> Vec<ProcessSums<'a>> {
    let index = &view.index;
    let sums = |(process, cpu): (&Process, Option<ReportCpu>)| ProcessSums {
        threads: process.threads.iter().map(|thread| thread_times(thread, index)).collect(),
        cpu,
        native: native_threads(process, index),
    };
    view.session.processes.iter().zip(cpu_of_processes(view, is_slice)).map(sums).collect()
}

impl ProcessSums<'_> {
    /// Returns the sums of the times of all threads.
    pub fn times(&self) -> ReportTimes {
        sum_of_times(self.threads.iter().copied())
    }
}
