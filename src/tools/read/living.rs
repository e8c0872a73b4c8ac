//! Which processes still record into trace files.

use std::path::PathBuf;

use super::sniff::{is_complete, read_header};
use cpu_prof_core::base::system::is_process_alive;
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::Input;

/// Returns the ids of the living processes that have not completed their traces, each once, in the
/// order of the files. Skips files that are not traces of recordings, or are gone.
pub(crate) fn living_recorders(files: &[PathBuf]) -> Vec<u32> {
    let mut pids = Vec::new();
    for pid in find(files).0.iter().filter_map(unfinished_by) {
        if !pids.contains(&pid) && is_process_alive(pid) {
            pids.push(pid);
        }
    }
    pids
}

/// Returns the id of the process that has not completed this trace.
fn unfinished_by(input: &Input) -> Option<u32> {
    let pid = read_header(input)?.pid?;
    (!is_complete(input).ok()?).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    use cpu_prof_core::testing::traces::MAIN;
    const CPUPROFILE: &str = r#"{"nodes":[],"startTime":1,"endTime":2}"#;

    /// A complete trace of a process, and the same trace before it was completed.
    fn traces(pid: u32) -> (String, String) {
        let complete = MAIN.replace("\"pid\":4242", &format!("\"pid\":{pid}"));
        let last = complete.rfind(",\n{").unwrap();
        let growing = format!("{}\n]}}", &complete[..last]);
        (complete, growing)
    }

    #[test]
    fn living_processes_with_unfinished_traces_are_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, other) = (std::process::id(), child.id());
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let files = [
            file("other.trace.json", &traces(other).1),
            file("own.trace.json", &traces(own).1),
            file("own-worker.trace.json", &traces(own).1),
            file("init.trace.json", &traces(1).0),
            file(&format!("CPU.20260304.050607.{own}.0.001.cpuprofile"), CPUPROFILE),
            file("foreign.json", "[{\"ph\":\"I\"}"),
            file("empty.trace.json", ""),
            file("none.trace.json", &traces(0).1),
            file("large.trace.json", &traces(u32::MAX).1),
            dir.path().join("gone.trace.json"),
        ];
        assert_eq!(living_recorders(&files), [other, own]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(living_recorders(&files), [own]);
    }

    #[test]
    fn the_process_of_another_user_is_alive() {
        // Only root may send a signal to the system's first process.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("init.trace.json");
        std::fs::write(&path, traces(1).1).unwrap();
        assert_eq!(living_recorders(&[path]), [1]);
    }
}
