//! Tells the user what a recording lacks.

use crate::profile::session::{Process, Session};

/// Returns the remarks, a sentence each.
pub(super) fn notes(session: &Session) -> Vec<String> {
    session.processes.iter().filter_map(lost_time).collect()
}

/// Tells the time for which the files of a process could not be written.
fn lost_time(process: &Process) -> Option<String> {
    let profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
    let lost_us = profiles.map(|profile| profile.lost_us).max().filter(|us| *us > 0)?;
    Some(format!(
        "{} lacks {:.1} s of its time, because its files could not be written (a full disk, mostly)",
        process.label(),
        lost_us as f64 / 1e6
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::session::Thread;
    use crate::profile::thread_profile::ThreadProfile;

    fn process(name: &str, lost_us: &[i64]) -> Process {
        let profile = |lost_us: &i64| ThreadProfile { lost_us: *lost_us, ..Default::default() };
        let thread = |lost_us| Thread { profiles: vec![profile(lost_us)], ..Thread::default() };
        let threads = lost_us.iter().map(thread).collect();
        Process { name: name.into(), pid: 7, threads, ..Process::default() }
    }

    #[test]
    fn lost_time_is_told_once_for_each_process() {
        let processes = vec![process("whole", &[0, 0]), process("cut", &[0, 1_500_000, 20_000])];
        let notes = notes(&Session { processes, ..Session::default() });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("cut (pid 7) lacks 1.5 s of its time, because"));
    }
}
