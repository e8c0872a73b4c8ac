//! What processes did one after the other, where the recording tells that: what the program measured, the
//! projects and the phases of TypeScript's compiler, test files, workers, and the start-up.

mod compiler;
mod measures;
mod phase;
mod start_up;
mod stretches;
mod test_files;
mod workers;

use self::compiler::{CompilerFrames, projects};
use self::measures::measures;
pub(super) use self::phase::Phase;
use self::start_up::LoadingFrames;
use self::test_files::TestFiles;
use self::workers::workers;
use crate::wall::activity::ProcessActivity;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_session::model::{Process, Session};

/// Finds the phases of a session's processes.
pub(super) struct PhaseFinder {
    compiler: CompilerFrames,
    loading: LoadingFrames,
    tests: TestFiles,
    /// Length that a phase needs for a part of its own, microseconds.
    least_us: i64,
    /// Length that time without a phase needs for a part of its own, microseconds.
    rest_us: i64,
}

impl PhaseFinder {
    /// Returns what finds the phases of a session's processes.
    pub(super) fn of(session: &Session, least_us: i64, rest_us: i64) -> Self {
        let frames = &session.frames;
        Self {
            compiler: CompilerFrames::of(frames),
            loading: LoadingFrames::of(frames),
            tests: TestFiles::of(frames),
            least_us,
            rest_us,
        }
    }

    /// Returns the phases of a process, apart from each other, in order.
    pub(super) fn phases(&self, process: &Process, activity: &ProcessActivity) -> Vec<Phase> {
        let Some(main) = process.threads.iter().find(|thread| thread.is_main()) else {
            return Vec::new();
        };
        let least_us = self.least_us;
        let mut phases: Vec<Phase> = Vec::new();
        // The program's own words count most. A start-up says little, so it has to be longer.
        for (list, least_us) in [
            (measures(main, least_us), least_us),
            (projects(process, main), least_us),
            (self.compiler.phases(process, main, least_us), least_us),
            (self.tests.phases(process, main, least_us), least_us),
            (self.loading.start_up(main).into_iter().collect(), 2 * least_us),
            (workers(process, activity, least_us), least_us),
        ] {
            let rest: Vec<Phase> = list.iter().flat_map(|phase| phase.without(&phases)).collect();
            phases.extend(rest.into_iter().filter(|phase| phase.us() >= least_us));
            phases.cold_sort_by_key(|phase| phase.from_us);
        }
        phases
    }

    /// Parts a time of a process by the phases of the process. Short time without a phase joins its neighbour.
    pub(super) fn parted(&self, phases: &[Phase], from_us: i64, to_us: i64) -> Vec<Phase> {
        let whole = Phase { name: None, from_us, to_us };
        let inside = phases.iter().filter_map(|phase| phase.within(&whole));
        let named: Vec<Phase> = inside.filter(|phase| phase.us() >= self.least_us).collect();
        let mut all = whole.without(&named);
        all.extend(named);
        all.cold_sort_by_key(|phase| phase.from_us);
        let is_rest = |phase: &Phase| phase.name.is_none() && phase.us() < self.rest_us;
        let mut joined: Vec<Phase> = Vec::new();
        for phase in all {
            match joined.last_mut() {
                Some(last) if last.name == phase.name || is_rest(&phase) => {
                    last.to_us = phase.to_us;
                }
                Some(last) if is_rest(last) => *last = Phase { from_us: last.from_us, ..phase },
                _ => joined.push(phase),
            }
        }
        joined
    }
}
