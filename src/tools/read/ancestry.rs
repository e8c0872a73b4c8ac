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
            && above.start_us() <= child.start_us()
    };
    child.ancestors.iter().find_map(|pid| {
        // Of several processes with one pid, the latest.
        session.processes.iter().rposition(|above| is_above(*pid, above))
    })
}
