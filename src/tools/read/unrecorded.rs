//! What recordings lack: tells the user, and notes it in a recording.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::sniff::{end_of, read_header};
use cpu_prof_core::base::system::is_process_alive;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::write::event::At;
use cpu_prof_core::format::trace::write::unrecorded::with_unrecorded;
use cpu_prof_core::profile::cpu_use::UnrecordedPrograms;
use cpu_prof_session::model::{Process, Session};

/// Bytes at the end of a recording in which its last event begins.
const END: u64 = 64 << 10;

/// Adds to the recording of a process what ran under the process without a recording. Returns whether the file has
/// it now: one that can still change stays as it is.
pub fn note_programs(path: &Path, programs: UnrecordedPrograms) -> io::Result<bool> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let bytes = file.metadata()?.len();
    let input = Input { path: path.to_owned(), bytes, is_named: true, group: 0 };
    let Some(header) = read_header(&input).filter(|header| !header.is_cpuprofile) else {
        return Ok(false);
    };
    let Some(pid) = header.pid.filter(|pid| !is_process_alive(*pid)) else { return Ok(false) };
    let at = At { pid, tid: header.tid, ts: end_of(&input).last_us.unwrap_or(header.start_us) };
    let from = bytes.saturating_sub(END);
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    Read::by_ref(&mut file).take(END).read_to_end(&mut end)?;
    let Some((offset, text)) = with_unrecorded(&end, at, programs) else { return Ok(false) };
    file.seek(SeekFrom::Start(from + offset as u64))?;
    file.write_all(&text)?;
    Ok(true)
}

/// Returns the notes, a sentence each.
pub(super) fn notes(session: &Session) -> Vec<String> {
    let of_process = |process| lost_time(process).or_else(|| nothing_written(process));
    session.processes.iter().filter_map(of_process).collect()
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

/// Tells that a recording of ours has nothing but its beginning.
fn nothing_written(process: &Process) -> Option<String> {
    let is_ours = process.node.is_some();
    let mut profiles = process.threads.iter().flat_map(|thread| &thread.profiles);
    let is_empty = profiles.all(|profile| profile.nodes.is_empty() && !profile.has_ended);
    (is_ours && is_empty).then(|| {
        format!(
            "nothing of {} is recorded: the process was killed or crashed before its first flush, or \
             has just started (CPU_PROF_FLUSH_INTERVAL sets the time between two flushes)",
            process.label()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::load::load_uncorrected;
    use cpu_prof_core::profile::read_scope::ReadScope;
    use cpu_prof_core::testing::traces::MAIN;
    use cpu_prof_session::model::Thread;
    use cpu_prof_session::model::thread_profile::{NONE, ProfileNode, ThreadProfile};

    fn process(name: &str, lost_us: &[i64]) -> Process {
        let profile = |lost_us: &i64| ThreadProfile { lost_us: *lost_us, ..Default::default() };
        let thread = |lost_us| Thread { profiles: vec![profile(lost_us)], ..Thread::default() };
        let threads = lost_us.iter().map(thread).collect();
        Process { name: name.into(), pid: 7, threads, ..Process::default() }
    }

    /// Writes the trace of a process, and notes programs in it. Returns whether that was done, and what is read back.
    fn noted(text: &str) -> (bool, Option<UnrecordedPrograms>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.trace.json");
        std::fs::write(&path, text).unwrap();
        let programs = UnrecordedPrograms { nodes: 2, nodes_us: 5000, others_us: 70 };
        let is_noted = note_programs(&path, programs).unwrap();
        let loaded = load_uncorrected(&[path], ReadScope::LINES);
        assert!(loaded.failed.is_empty() && loaded.repaired.is_empty());
        (is_noted, loaded.session.processes[0].unrecorded)
    }

    #[test]
    fn programs_are_noted_in_the_recording_of_a_process_that_has_ended() {
        let of = |pid: u32| MAIN.replace("\"pid\":4242", &format!("\"pid\":{pid}"));
        let programs = UnrecordedPrograms { nodes: 2, nodes_us: 5000, others_us: 70 };
        // No process of Linux has such an id.
        let ended = of(4_194_305);
        assert_eq!(noted(&ended), (true, Some(programs)));
        // It was killed: its last events are those of a flush.
        let killed = format!("{}\n]}}", &ended[..ended.rfind(",\n{").unwrap()]);
        assert_eq!(noted(&killed), (true, Some(programs)));
        // It can still write its exit code.
        assert_eq!(noted(&of(std::process::id())), (false, None));
        let cut = &ended[..ended.len() - 1];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cut.trace.json");
        std::fs::write(&path, cut).unwrap();
        assert!(!note_programs(&path, programs).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), cut);
    }

    #[test]
    fn lost_time_is_told_once_for_each_process() {
        let processes = vec![process("whole", &[0, 0]), process("cut", &[0, 1_500_000, 20_000])];
        let notes = notes(&Session { processes, ..Session::default() });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("cut (pid 7) lacks 1.5 s of its time, because"));
    }

    #[test]
    fn a_recording_without_a_flush_is_told() {
        let own = |name| Process { node: Some("v20.0.0".into()), ..process(name, &[0]) };
        let mut ended = own("ended");
        ended.threads[0].profiles[0].has_ended = true;
        let mut with_worker = own("with worker");
        let node = ProfileNode::new(NONE, 0);
        let worker = ThreadProfile { nodes: vec![node], ..ThreadProfile::default() };
        with_worker.threads.push(Thread { profiles: vec![worker], ..Thread::default() });
        let processes = vec![process("foreign", &[0]), ended, with_worker, own("killed")];
        let notes = notes(&Session { processes, ..Session::default() });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("nothing of killed (pid 7) is recorded: "));
    }
}
