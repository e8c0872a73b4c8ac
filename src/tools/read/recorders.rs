//! Which processes wrote recordings.

use std::path::PathBuf;

use super::sniff::read_header;
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

#[cfg(test)]
mod tests {
    use super::*;

    use cpu_prof_core::testing::traces::MAIN;
    const CPUPROFILE: &str = r#"{"nodes":[],"startTime":1,"endTime":2}"#;

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
}
