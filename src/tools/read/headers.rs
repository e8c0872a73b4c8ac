//! What the headers of recordings tell about their processes, without a reading of the files.

use std::collections::HashSet;
use std::path::PathBuf;

use serde_json::Value;

use super::sniff::{is_complete, read_header};
use cpu_prof_core::base::system::is_process_alive;
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::cpuprofile::file_name::ids_from_file_name;
use cpu_prof_core::profile::session::Identity;

/// A process that wrote a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recorder {
    /// Process id, as the process itself sees the id.
    pub pid: u32,
    /// Start of the process: milliseconds after the system's start; none if only the file's name
    /// tells the process.
    pub start_ms: Option<u64>,
}

/// Returns the processes that wrote these recordings, each once, in the order of the files. Returns
/// none if a recording does not tell its process.
pub(crate) fn recorders(files: &[PathBuf]) -> Option<Vec<Recorder>> {
    let mut recorders = Vec::new();
    for input in find(files).0 {
        let recorder = recorder(&input)?;
        if !recorders.contains(&recorder) {
            recorders.push(recorder);
        }
    }
    Some(recorders)
}

/// Returns the files that recordings of other runs than `run` wrote.
pub(crate) fn of_other_runs(files: &[PathBuf], run: &str) -> Vec<PathBuf> {
    let is_other = |input: &Input| {
        let header = read_header(input);
        let other = header.as_ref().and_then(|header| header.program.get("run")?.as_str());
        other.is_some_and(|other| other != run)
    };
    find(files).0.into_iter().filter(is_other).map(|input| input.path).collect()
}

fn recorder(input: &Input) -> Option<Recorder> {
    if let Some(header) = read_header(input) {
        let start_ms = header.identity().map(|Identity { process_start_ms, .. }| process_start_ms);
        return Some(Recorder { pid: header.pid?, start_ms });
    }
    let name = input.path.file_name()?.to_string_lossy();
    let (pid, _) = ids_from_file_name(&name)?;
    Some(Recorder { pid: u32::try_from(pid).ok()?, start_ms: None })
}

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

/// Returns the count of recordings in these files. The segments of a recording count once.
pub(crate) fn count_recordings(files: &[PathBuf]) -> usize {
    let mut chains = HashSet::new();
    let is_new = |input: &&Input| chain(input).is_none_or(|chain| chains.insert(chain));
    find(files).0.iter().filter(is_new).count()
}

/// Returns what the segments of one recording have in common; none if the file is no segment.
fn chain(input: &Input) -> Option<(u32, Option<Identity>, u64)> {
    let header = read_header(input)?;
    let number = header.program.get("recording").and_then(Value::as_u64)?;
    Some((header.pid?, header.identity(), number))
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

    #[test]
    fn recordings_of_other_runs_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, run: &str| {
            let path = dir.path().join(name);
            let header = format!("\"threadId\":0,\"run\":\"{run}\"");
            std::fs::write(&path, MAIN.replace("\"threadId\":0", &header)).unwrap();
            path
        };
        let outside = dir.path().join("outside.trace.json");
        std::fs::write(&outside, MAIN).unwrap();
        let (own, other) = (file("a.trace.json", "r1"), file("b.trace.json", "r2"));
        let missing = dir.path().join("missing.trace.json");
        let found = of_other_runs(&[own, other.clone(), outside, missing], "r1");
        assert_eq!(found, [other]);
    }

    #[test]
    fn each_process_is_listed_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let restarted = MAIN.replace("\"processStartMs\":522975430", "\"processStartMs\":7");
        let mut files = vec![
            file("main.trace.json", MAIN),
            file("worker.trace.json", MAIN),
            file("same-pid.trace.json", &restarted),
            file("CPU.20260304.050607.31.0.001.cpuprofile", CPUPROFILE),
        ];
        let recorder = |pid, start_ms| Recorder { pid, start_ms };
        let expected =
            [recorder(4242, Some(522_975_430)), recorder(4242, Some(7)), recorder(31, None)];
        assert_eq!(recorders(&files).as_deref(), Some(&expected[..]));

        files.push(file("x.cpuprofile", CPUPROFILE));
        assert_eq!(recorders(&files), None);
        assert_eq!(recorders(&[]), Some(Vec::new()));
    }

    #[test]
    fn segments_count_once() {
        let dir = tempfile::tempdir().unwrap();
        let segment = |recording: u32, segment: u32| {
            let facts = format!("\"recording\":{recording},\"segment\":{segment},\"threadId\":");
            MAIN.replacen("\"threadId\":", &facts, 1)
        };
        let files = [
            ("a.trace.json", segment(1, 3)),
            ("b.trace.json", segment(1, 4)),
            ("c.trace.json", segment(2, 1)),
            ("d.trace.json", segment(1, 3).replace("\"pid\":4242", "\"pid\":4243")),
            ("e.trace.json", MAIN.to_owned()),
            ("f.trace.json", MAIN.to_owned()),
            ("g.cpuprofile", "{\"nodes\":[]}".to_owned()),
        ];
        let paths = files.map(|(name, text)| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        assert_eq!(count_recordings(&paths), 6);
    }
}
