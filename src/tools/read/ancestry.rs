//! Which recorded process runs under which.

use cpu_prof_session::model::{Process, Session};

/// Returns for each process the index of the recorded process that it runs under, with or without
/// other programs in between.
pub fn parents(session: &Session) -> Vec<Option<usize>> {
    session.processes.iter().map(|child| nearest_ancestor(session, child)).collect()
}

fn nearest_ancestor(session: &Session, child: &Process) -> Option<usize> {
    let namespace = |process: &Process| process.identity.as_ref()?.pid_namespace;
    let is_above = |pid: i64, above: &Process| {
        above.pid == pid
            && above.clock == child.clock
            && namespace(above) == namespace(child)
            && !start_of(above).is_after(start_of(child))
    };
    child.ancestors.iter().find_map(|pid| {
        // Of several processes with one pid, the latest.
        session.processes.iter().rposition(|above| is_above(*pid, above))
    })
}

fn start_of(process: &Process) -> StartTimes {
    StartTimes {
        process_ms: process.identity.as_ref().map(|identity| identity.process_start_ms),
        recording_us: Some(process.start_us()),
    }
}

/// The times that tell which of two processes has started first.
#[derive(Debug, Clone, Copy)]
pub struct StartTimes {
    /// Start of the process, milliseconds of its clock.
    pub process_ms: Option<u64>,
    /// Start of its first recording, microseconds.
    pub recording_us: Option<i64>,
}

impl StartTimes {
    /// Returns whether the process has started after another. The recording of a parent that was started from
    /// outside can begin after those of its children.
    pub(crate) fn is_after(self, other: Self) -> bool {
        match (self.process_ms, other.process_ms) {
            (Some(one), Some(other)) => one > other,
            _ => self.recording_us > other.recording_us,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_session::model::thread_profile::ThreadProfile;
    use cpu_prof_session::model::{Identity, Thread};

    /// A process that is recorded from a time on, microseconds, and has started at another, milliseconds.
    fn process(
        pid: i64,
        ancestors: &[i64],
        start_us: i64,
        process_start_ms: Option<u64>,
    ) -> Process {
        let profiles = vec![ThreadProfile { start_us, ..ThreadProfile::default() }];
        let identity = process_start_ms.map(|process_start_ms| Identity {
            process_start_ms,
            boot: "b".into(),
            key: None,
            pid_namespace: None,
        });
        Process {
            pid,
            ancestors: ancestors.to_vec(),
            threads: vec![Thread { profiles, ..Thread::default() }],
            identity,
            ..Process::default()
        }
    }

    #[test]
    fn a_parent_has_started_before() {
        let parents_of = |processes| parents(&Session { processes, ..Session::default() });
        let reused =
            vec![process(7, &[], 1, None), process(8, &[9, 7], 2, None), process(7, &[], 3, None)];
        assert_eq!(parents_of(reused), [None, Some(0), None]);
        // The child's recording begins first.
        let from_outside = vec![process(8, &[7], 1, Some(110)), process(7, &[], 2, Some(100))];
        assert_eq!(parents_of(from_outside), [Some(1), None]);
    }
}
