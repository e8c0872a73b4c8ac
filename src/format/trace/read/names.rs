//! What processes and threads are called in a trace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::profile::session::{Identity, Process, Thread};

/// What a file says of a process.
#[derive(Debug, Default)]
pub(super) struct ProcessNames {
    /// `process_name`: `nx (pid 4242)`
    name: Option<String>,
    /// The frame's `url`: `nx: run-many (pid 4242)`
    label: Option<String>,
    /// `thread_name`, and its `ts`.
    threads: BTreeMap<i64, (i64, String)>,
    program: ProgramJson,
}

/// What our metadata says of a process.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProgramJson {
    pid: Option<i64>,
    ppid: Option<i64>,
    cwd: Option<String>,
    node: Option<String>,
    process_start_ms: Option<u64>,
    boot: Option<String>,
    /// In a merged trace, where another process had its pid.
    own_pid: Option<i64>,
}

#[derive(Deserialize)]
struct MetadataJson {
    #[serde(rename = "cpu-prof")]
    own: OwnJson,
}

#[derive(Deserialize)]
struct OwnJson {
    #[serde(flatten)]
    program: ProgramJson,
    #[serde(default)]
    processes: Vec<ProgramJson>,
}

#[derive(Deserialize)]
struct NameJson {
    name: String,
}

#[derive(Deserialize)]
struct FramesJson {
    data: FramesDataJson,
}

/// TracingStartedInBrowser has a list, FrameCommittedInBrowser is one itself.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct FramesDataJson {
    frames: Vec<ProcessFrameJson>,
    process_id: Option<i64>,
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ProcessFrameJson {
    process_id: Option<i64>,
    url: String,
}

impl ProcessNames {
    /// Takes what an event of this name and process tells.
    pub(super) fn event(
        all: &mut BTreeMap<i64, Self>,
        event: &str,
        pid: i64,
        tid: i64,
        ts: i64,
        args: &RawValue,
    ) {
        match event {
            "process_name" => {
                if let Ok(NameJson { name }) = serde_json::from_str(args.get()) {
                    all.entry(pid).or_default().name = Some(name);
                }
            }
            "thread_name" => {
                if let Ok(NameJson { name }) = serde_json::from_str(args.get()) {
                    // A main thread has one for DevTools beside its own, a worker one for later.
                    let threads = &mut all.entry(pid).or_default().threads;
                    let known = threads.entry(tid).or_insert((i64::MIN, String::new()));
                    if ts >= known.0 {
                        *known = (ts, name);
                    }
                }
            }
            "TracingStartedInBrowser" | "FrameCommittedInBrowser" => {
                let Ok(FramesJson { data }) = serde_json::from_str(args.get()) else { return };
                let one = ProcessFrameJson { process_id: data.process_id, url: data.url };
                for frame in data.frames.into_iter().chain([one]) {
                    // A page's frame is not a process's label.
                    if without_pid(&frame.url).is_some() {
                        let pid = frame.process_id.unwrap_or(pid);
                        all.entry(pid).or_default().label = Some(frame.url);
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes what the file's metadata tells.
    pub(super) fn metadata(all: &mut BTreeMap<i64, Self>, value: &[u8]) {
        let Ok(MetadataJson { own }) = serde_json::from_slice(value) else { return };
        for program in own.processes.into_iter().chain([own.program]) {
            if let Some(pid) = program.pid {
                all.entry(pid).or_default().program = program;
            }
        }
    }

    /// What a thread is called within its process.
    pub(super) fn thread(&self, tid: i64) -> String {
        let name = self.threads.get(&tid).map(|(_, name)| name.as_str()).unwrap_or_default();
        let start = format!("{} - ", self.name.as_deref().unwrap_or_default());
        match name.strip_prefix(&start).unwrap_or(name) {
            "" if tid == 0 => "main".to_owned(),
            "" => format!("thread {tid}"),
            name => name.to_owned(),
        }
    }

    /// The process.
    pub(super) fn process(self, pid: i64, threads: Vec<Thread>) -> Process {
        let name = match &self.name {
            Some(name) => without_pid(name).unwrap_or(name).to_owned(),
            None => "process".to_owned(),
        };
        let arguments =
            self.label.as_deref().and_then(without_pid).and_then(|label| {
                label.split_once(':').map(|(_, arguments)| arguments.trim_start())
            });
        let command = match arguments {
            None | Some("") => name.clone(),
            Some(arguments) => format!("{name} {arguments}"),
        };
        let ProgramJson { ppid, cwd, node, .. } = self.program.clone();
        // A converted trace has them, and knows nothing of them.
        let parent_pid = ppid.filter(|pid| *pid > 0);
        let known = |text: &String| !text.is_empty();
        let (cwd, node) = (cwd.filter(known), node.filter(known));
        let identity = self.program.process_start_ms.zip(self.program.boot);
        let identity = identity.map(|(process_start_ms, boot)| Identity { process_start_ms, boot });
        let pid = self.program.own_pid.unwrap_or(pid);
        Process {
            pid,
            name,
            command,
            is_labelled: self.label.is_some(),
            cwd,
            parent_pid,
            node,
            identity,
            threads,
            ..Process::default()
        }
    }
}

/// `nx: run-many (pid 4242)` without its end; none if it has no such end. A merge puts a mark behind
/// it (` #2`) where two processes had one pid.
fn without_pid(label: &str) -> Option<&str> {
    let is_mark = |mark: &str| !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_digit());
    let label = match label.rsplit_once(" #") {
        Some((start, mark)) if is_mark(mark) => start,
        _ => label,
    };
    let (start, pid) = label.strip_suffix(')')?.rsplit_once("(pid ")?;
    let is_number = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pid_stands_at_the_end() {
        assert_eq!(without_pid("nx: run (pid 1) (pid 42)"), Some("nx: run (pid 1)"));
        assert_eq!(without_pid("nx: (pid 42)"), Some("nx:"));
        assert_eq!(without_pid("nx: (pid 42) #2"), Some("nx:"));
        for label in ["https://x/", "(pid )", "nx (pid 4x)", "", "nx (pid 4) "] {
            assert_eq!(without_pid(label), None);
        }
    }
}
