//! The place of pprof beside recordings: a tool that a recorded program has started, and that writes its own
//! profile, ran at a time of the run. pprof tells the time of day, and so do recordings.

use cpu_prof_session::model::{Identity, Process};

/// Time by which a profile can begin after the recordings end, or end before they begin: microseconds.
const TOLERANCE_US: i64 = 60_000_000;

/// The time of recordings.
#[derive(Debug, Clone)]
pub struct RecordedTime {
    /// Id of the system's start, if the recordings give one.
    pub boot: Option<String>,
    /// Wall time of microsecond 0: microseconds after 1970.
    pub wall_zero_us: i64,
    /// First start, microseconds.
    pub start_us: i64,
    /// Last end, microseconds.
    pub end_us: i64,
}

impl RecordedTime {
    /// Returns the time of the first process that tells the time of day, and of those beside it; none if none
    /// tells.
    pub fn of<'a>(processes: impl Iterator<Item = &'a Process>) -> Option<Self> {
        let mut found: Option<Self> = None;
        for process in processes.filter(|process| !is_of_day(process)) {
            let (start_us, end_us) = process.recorded_us();
            let boot = process.identity.as_ref().map(|identity| identity.boot.clone());
            match (&mut found, process.wall_zero_us) {
                (Some(found), _) if found.boot == boot => {
                    found.start_us = found.start_us.min(start_us);
                    found.end_us = found.end_us.max(end_us);
                }
                (None, Some(wall_zero_us)) => {
                    found = Some(Self { boot, wall_zero_us, start_us, end_us });
                }
                _ => {}
            }
        }
        found
    }

    /// Gives the process of another tool's pprof the clock of the recordings, if it ran at their time.
    pub fn place(&self, process: &mut Process) {
        let shift = |us: i64| us.saturating_sub(self.wall_zero_us);
        let (start_us, end_us) = process.recorded_us();
        let is_near = shift(start_us) <= self.end_us.saturating_add(TOLERANCE_US)
            && shift(end_us) >= self.start_us.saturating_sub(TOLERANCE_US);
        if !is_of_day(process) || !is_near {
            return;
        }
        for profile in process.threads.iter_mut().flat_map(|thread| &mut thread.profiles) {
            for us in [&mut profile.start_us, &mut profile.end_us] {
                *us = shift(*us);
            }
            let (from_us, to_us) = profile.recorded_us;
            profile.recorded_us = (shift(from_us), shift(to_us));
            profile.samples.change(|mut sample| {
                sample.time_us = shift(sample.time_us);
                sample
            });
        }
        process.wall_zero_us = Some(self.wall_zero_us);
        let start = process.identity.take();
        process.identity =
            start.zip(self.boot.clone()).map(|(start, boot)| Identity { boot, ..start });
    }
}

/// Gives other tools' pprof among processes the clock of the others.
pub(crate) fn place_all(mut processes: Vec<&mut Process>) {
    if let Some(recorded) = RecordedTime::of(processes.iter().map(|process| &**process)) {
        processes.iter_mut().for_each(|process| recorded.place(process));
    }
}

/// Returns whether the times of a process are those of the day, as only those of another tool's pprof are. What
/// was converted from recordings has their pids.
fn is_of_day(process: &Process) -> bool {
    process.wall_zero_us == Some(0) && process.pid == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::model::Thread;
    use cpu_prof_session::model::thread_profile::ThreadProfile;

    fn process(pid: i64, wall_zero_us: i64, span: (i64, i64), boot: &str) -> Process {
        let profile = ThreadProfile {
            start_us: span.0,
            end_us: span.1,
            recorded_us: span,
            ..ThreadProfile::default()
        };
        let (boot, process_start_ms) = (boot.to_owned(), 0);
        Process {
            pid,
            wall_zero_us: Some(wall_zero_us),
            identity: Some(Identity { boot, process_start_ms, key: None, pid_namespace: None }),
            threads: vec![Thread { profiles: vec![profile], ..Thread::default() }],
            ..Process::default()
        }
    }

    #[test]
    fn what_ran_at_the_time_of_the_recordings_gets_their_clock() {
        const ZERO: i64 = 1_760_000_000_000_000;
        const DAY_US: i64 = 86_400_000_000;
        let recordings =
            [process(7, ZERO, (500, 9_000), "b"), process(8, ZERO, (700, 20_000), "b")];
        let time = RecordedTime::of(recordings.iter()).unwrap();
        assert_eq!((time.start_us, time.end_us), (500, 20_000));
        let placed = |mut process: Process| {
            time.place(&mut process);
            let boot = process.identity.unwrap().boot;
            (boot, process.wall_zero_us, process.threads[0].profiles[0].recorded_us)
        };
        let of_tool = process(0, 0, (ZERO + 800, ZERO + 5_000), "pprof");
        assert_eq!(placed(of_tool), ("b".to_owned(), Some(ZERO), (800, 5_000)));
        let day_after = (ZERO + DAY_US, ZERO + DAY_US + 1);
        let of_next_day = process(0, 0, day_after, "pprof");
        assert_eq!(placed(of_next_day), ("pprof".to_owned(), Some(0), day_after));
        assert!(RecordedTime::of([process(0, 0, (1, 2), "pprof")].iter()).is_none());
    }
}
