//! What the headers of recordings tell about their processes, without a reading of the files.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::sniff::{RecordingFile, is_complete, read_header};
use cpu_prof_core::base::system::is_process_alive;
use cpu_prof_core::files::find::find;
use cpu_prof_core::files::input::{Input, lossy};
use cpu_prof_session::formats::cpuprofile::file_name::ids_from_file_name;

/// What is known of one file of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileHeader {
    /// Path of the file.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    /// Process id, as the process itself sees the id; none if neither the header nor the file's name
    /// tells it.
    pub pid: Option<u32>,
    /// Node's thread id, 0 for the main thread; none if the header does not tell.
    pub thread: Option<u32>,
    /// Start of the process: milliseconds after the system's start; none if the header does not tell.
    pub start_ms: Option<u64>,
    /// Id of the parent process.
    pub parent_pid: Option<i64>,
    /// Working directory of the process.
    pub cwd: Option<String>,
    /// Id of the `cpu-prof run` that the process belonged to.
    pub run: Option<String>,
    /// A text that the segments of one recording have in common; none if the file is no segment.
    pub recording: Option<String>,
    /// Whether the process is alive and has not completed the trace.
    pub is_growing: bool,
}

/// Returns the headers of files, and of the files in folders. Leaves out what is gone.
pub fn headers(files: &[PathBuf]) -> Vec<FileHeader> {
    find(files).0.iter().map(header).collect()
}

fn header(input: &Input) -> FileHeader {
    let file = input.path.clone();
    let Some(header) = read_header(input) else {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        let ids = name.and_then(|name| ids_from_file_name(&name));
        let pid = ids.and_then(|(pid, _)| u32::try_from(pid).ok());
        return FileHeader { file, pid, ..FileHeader::default() };
    };
    let is_alive = header.pid.is_some_and(is_process_alive);
    FileHeader {
        file,
        pid: header.pid,
        thread: Some(header.tid),
        start_ms: header.identity().map(|identity| identity.process_start_ms),
        parent_pid: header.program.get("ppid").and_then(Value::as_i64),
        cwd: header.program.get("cwd").and_then(Value::as_str).map(str::to_owned),
        run: header.program.get("run").and_then(Value::as_str).map(str::to_owned),
        recording: recording_of(&header),
        is_growing: is_alive && is_complete(input).is_ok_and(|is_complete| !is_complete),
    }
}

/// Returns what the segments of one recording have in common; none if the file is no segment.
fn recording_of(header: &RecordingFile) -> Option<String> {
    let number = header.program.get("recording").and_then(Value::as_u64)?;
    let process = header.identity().map(|identity| {
        let key = identity.key.unwrap_or_default();
        format!("{} {} {key}", identity.boot, identity.process_start_ms)
    });
    Some(format!("{} {} {number}", header.pid?, process.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use cpu_prof_core::testing::traces::MAIN;

    const CPUPROFILE: &str = r#"{"nodes":[],"startTime":1,"endTime":2}"#;

    /// Writes files of these names and texts. Returns the folder and the paths.
    fn written(files: &[(&str, String)]) -> (tempfile::TempDir, Vec<PathBuf>) {
        let dir = tempfile::tempdir().unwrap();
        let write = |(name, text): &(&str, String)| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let paths = files.iter().map(write).collect();
        (dir, paths)
    }

    /// A complete trace of a process, and the same trace before it was completed.
    fn traces(pid: u32) -> (String, String) {
        let complete = MAIN.replace("\"pid\":4242", &format!("\"pid\":{pid}"));
        let last = complete.rfind(",\n{").unwrap();
        let growing = format!("{}\n]}}", &complete[..last]);
        (complete, growing)
    }

    #[test]
    fn traces_of_living_processes_grow_until_they_are_complete() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, other) = (std::process::id(), child.id());
        let cpuprofile = format!("CPU.20260304.050607.{own}.0.001.cpuprofile");
        let (_dir, mut paths) = written(&[
            ("other.trace.json", traces(other).1),
            ("own.trace.json", traces(own).1),
            ("complete.trace.json", traces(own).0),
            // Only root may send a signal to the system's first process.
            ("init.trace.json", traces(1).1),
            (&cpuprofile, CPUPROFILE.into()),
            ("foreign.json", "[{\"ph\":\"I\"}".into()),
            ("empty.trace.json", String::new()),
            ("none.trace.json", traces(0).1),
            ("large.trace.json", traces(u32::MAX).1),
        ]);
        paths.push("/gone.trace.json".into());
        let growing = || {
            let growing = headers(&paths).into_iter().filter(|header| header.is_growing);
            growing.filter_map(|header| header.pid).collect::<Vec<_>>()
        };
        assert_eq!(growing(), [other, own, 1]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(growing(), [own, 1]);
    }

    #[test]
    fn a_header_or_a_name_tells_the_process() {
        let restarted = MAIN.replace("\"processStartMs\":522975430", "\"processStartMs\":7");
        let (dir, _) = written(&[
            ("a.trace.json", MAIN.into()),
            ("b.trace.json", restarted),
            ("CPU.20260304.050607.31.0.001.cpuprofile", CPUPROFILE.into()),
            ("x.cpuprofile", CPUPROFILE.into()),
        ]);
        let mut known: Vec<_> = headers(&[dir.path().to_owned()])
            .into_iter()
            .map(|header| (header.pid, header.start_ms))
            .collect();
        known.sort_unstable();
        let expected = [
            (None, None),
            (Some(31), None),
            (Some(4242), Some(7)),
            (Some(4242), Some(522_975_430)),
        ];
        assert_eq!(known, expected);
    }

    #[test]
    fn the_run_of_a_recording_is_known() {
        let of_run = MAIN.replace("\"threadId\":0", "\"threadId\":0,\"run\":\"r1\"");
        let (_dir, paths) = written(&[("a.trace.json", of_run), ("b.trace.json", MAIN.into())]);
        let runs: Vec<_> = headers(&paths).into_iter().map(|header| header.run).collect();
        assert_eq!(runs, [Some("r1".to_owned()), None]);
    }

    #[test]
    fn segments_of_one_recording_have_a_text_in_common() {
        let segment = |recording: u32, segment: u32| {
            let facts = format!("\"recording\":{recording},\"segment\":{segment},\"threadId\":");
            MAIN.replacen("\"threadId\":", &facts, 1)
        };
        let (_dir, paths) = written(&[
            ("a.trace.json", segment(1, 3)),
            ("b.trace.json", segment(1, 4)),
            ("c.trace.json", segment(2, 1)),
            ("d.trace.json", segment(1, 3).replace("\"pid\":4242", "\"pid\":4243")),
            ("e.trace.json", MAIN.to_owned()),
            ("f.cpuprofile", CPUPROFILE.into()),
        ]);
        let recordings: Vec<_> = headers(&paths).into_iter().map(|file| file.recording).collect();
        assert_eq!(recordings[0], recordings[1]);
        assert_eq!(recordings.iter().flatten().collect::<HashSet<_>>().len(), 3);
        assert_eq!(recordings[4..], [None, None]);
    }
}
