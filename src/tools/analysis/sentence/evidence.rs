//! What the rules of the first sentence look at.

use super::culprit::{WorkFacts, work};
use super::death::{Death, death};
use super::native_code::{NativeCode, native_code};
use super::outside::{Outside, outside};
use super::thresholds::{NOTICED_PART, NOTICED_US};
use crate::analysis::json::{ReportCpu, ReportNative, ReportTimes};
use crate::analysis::process::cpu::{start_us, uses};
use crate::analysis::process::session_view::SessionView;
use crate::analysis::process::sums::ProcessSums;
use crate::analysis::process::times::sum_of_times;
use crate::analysis::session_costs::SessionCosts;
use crate::names::originals::source_lines::SourceLines;
use crate::wall::share::Wall;
use cpu_prof_session::model::Process;

/// The facts about a run.
pub struct Evidence<'a> {
    pub(super) view: &'a SessionView<'a>,
    pub(super) costs: &'a SessionCosts,
    /// The wall time by what had it; none without the times of samples.
    pub(super) wall: Option<&'a Wall>,
    /// Length of the run, microseconds.
    pub(super) length_us: f64,
    /// Times of all processes but launchers.
    pub(super) times: ReportTimes,
    /// Times of all processes.
    pub(super) all_times: ReportTimes,
    /// CPU time of all processes that tell it; none if no process does.
    pub(super) cpu: Option<ReportCpu>,
    /// CPU time of the starts of Node, before the recordings: microseconds.
    pub(super) starts_us: f64,
    /// Native threads of one name and process with the most CPU time; none if no process tells them.
    pub(super) largest_native: Option<&'a ReportNative<'a>>,
    /// What native threads executed most; none if they were not sampled.
    pub(super) native_code: Option<NativeCode>,
    /// Process with the most CPU time of other programs, by its index, and that time: microseconds.
    pub(super) starter_of_others: Option<(usize, u64)>,
    /// Time in which processes were stopped, microseconds.
    pub(super) stopped_us: f64,
    pub(super) work: WorkFacts,
    pub(super) outside: Outside,
    pub(super) death: Option<Death>,
}

impl<'a> Evidence<'a> {
    /// Returns the facts. `wall` is the wall time by what had it, `processes` are the sums of the processes, and
    /// `sources` the files that are looked at.
    pub fn of(
        view: &'a SessionView<'a>,
        wall: Option<&'a Wall>,
        costs: &'a SessionCosts,
        processes: &'a [ProcessSums<'a>],
        sources: &mut SourceLines,
    ) -> Self {
        let times = sum_of_times(view.shown().map(|(number, _)| processes[number].times()));
        let waited_us: f64 = view
            .shown()
            .flat_map(|(_, process)| &process.threads)
            .flat_map(uses)
            .filter_map(|cpu| cpu.wait_us)
            .sum();
        let others = processes
            .iter()
            .enumerate()
            .filter_map(|(number, sums)| Some((number, sums.cpu?.others_us?)));
        let native = processes.iter().filter_map(|sums| sums.native.as_ref()).flatten();
        let cpu = processes.iter().filter_map(|sums| sums.cpu).reduce(|sum, cpu| ReportCpu {
            javascript_us: sum.javascript_us.saturating_add(cpu.javascript_us),
            native_us: sum.native_us.saturating_add(cpu.native_us),
            others_us: match (sum.others_us, cpu.others_us) {
                (Some(sum), Some(us)) => Some(sum.saturating_add(us)),
                (sum, us) => sum.or(us),
            },
        });
        let cpu = cpu.map(|cpu| with_profiles_of_others(cpu, processes));
        Self {
            view,
            costs,
            wall,
            length_us: view.session.length_us() as f64,
            times,
            all_times: sum_of_times(processes.iter().map(ProcessSums::times)),
            cpu,
            starts_us: view.session.processes.iter().map(start_us).sum(),
            largest_native: native.max_by_key(|threads| threads.cpu_us),
            native_code: native_code(view),
            starter_of_others: others.max_by_key(|(_, us)| *us),
            // The system does not count a stop as waiting for a core.
            stopped_us: (times.waiting_us.unwrap_or(0) as f64 - waited_us).max(0.0),
            outside: outside(view),
            work: work(view, sources),
            death: death(view),
        }
    }

    /// Returns the processes but launchers.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'a Process> {
        self.view.shown().map(|(_, process)| process)
    }

    /// Returns the work of JavaScript threads without any function on the stack, microseconds.
    pub fn program_us(&self) -> u64 {
        self.outside.program_us
    }

    /// Returns the time of something beside JavaScript that a person notices in this run, microseconds.
    pub(super) fn noticed_us(&self) -> f64 {
        (NOTICED_PART * self.length_us).max(NOTICED_US)
    }

    /// Returns the work of all processes but launchers, microseconds.
    pub(super) fn work_us(&self) -> f64 {
        self.times.work_us() as f64
    }
}

/// Returns CPU times in which programs other than Node that wrote a profile of their own are no other programs:
/// their work is among what the report shows.
fn with_profiles_of_others(cpu: ReportCpu, processes: &[ProcessSums<'_>]) -> ReportCpu {
    let uncounted = processes.iter().filter(|sums| sums.cpu.is_none());
    let work_us: u64 = uncounted.map(|sums| sums.times().work_us()).sum();
    let known_us = cpu.others_us.unwrap_or(0).min(work_us);
    ReportCpu {
        javascript_us: cpu.javascript_us.saturating_add(known_us),
        others_us: cpu.others_us.map(|us| us - known_us),
        ..cpu
    }
}
