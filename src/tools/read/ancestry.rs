//! Which recorded process runs under which.

use cpu_prof_core::profile::session::{Process, Session};

/// Returns for each process the index of the recorded process that it runs under, with or without
/// other programs in between.
pub(crate) fn parents(session: &Session) -> Vec<Option<usize>> {
    session.processes.iter().map(|child| nearest_ancestor(session, child)).collect()
}

fn nearest_ancestor(session: &Session, child: &Process) -> Option<usize> {
    let namespace = |process: &Process| process.identity.as_ref()?.pid_namespace;
    let is_above = |pid: i64, above: &Process| {
        above.pid == pid
            && above.clock == child.clock
            && namespace(above) == namespace(child)
            && !has_started_after(above, child)
    };
    child.ancestors.iter().find_map(|pid| {
        // Of several processes with one pid, the latest.
        session.processes.iter().rposition(|above| is_above(*pid, above))
    })
}

/// Returns whether a process has started after another. The recording of a parent that was started from
/// outside can begin after those of its children.
fn has_started_after(one: &Process, other: &Process) -> bool {
    let start_ms = |process: &Process| Some(process.identity.as_ref()?.process_start_ms);
    match (start_ms(one), start_ms(other)) {
        (Some(one), Some(other)) => one > other,
        _ => one.start_us() > other.start_us(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::session::thread_profile::ThreadProfile;
    use cpu_prof_core::profile::session::{Identity, Thread};

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
