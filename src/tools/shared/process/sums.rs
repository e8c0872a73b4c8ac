//! The sums of each process that several parts of a result need.

use super::cpu::cpu_of_processes;
use super::times::{sum_of_times, thread_times};
use crate::read::load::Loaded;
use crate::shared::frame_index::FrameIndex;
use crate::shared::json::{ReportCpu, ReportNative, ReportTimes};
use crate::shared::native::threads::native_threads;
use cpu_prof_session::model::Process;

/// The sums of a process.
pub(crate) struct ProcessSums<'a> {
    /// Times of the threads, in the order of the threads.
    pub threads: Vec<ReportTimes>,
    /// CPU times; none for a process without counters.
    pub cpu: Option<ReportCpu>,
    /// Native threads, the most CPU time first; none if the recording does not tell them.
    pub native: Option<Vec<ReportNative<'a>>>,
}

/// Returns the sums of all processes. `parents` are the indices of the recorded processes above.
pub(crate) fn process_sums<'a>(
    loaded: &Loaded,
    parents: &[Option<usize>],
    index: &'a FrameIndex,
) -> Vec<ProcessSums<'a>> {
    let sums = |(process, cpu): (&Process, Option<ReportCpu>)| ProcessSums {
        threads: process.threads.iter().map(|thread| thread_times(thread, index)).collect(),
        cpu,
        native: native_threads(process, index),
    };
    loaded.session.processes.iter().zip(cpu_of_processes(loaded, parents)).map(sums).collect()
}

impl ProcessSums<'_> {
    /// Returns the sums of the times of all threads.
    pub(crate) fn times(&self) -> ReportTimes {
        sum_of_times(self.threads.iter().copied())
    }
}
