//! Traces of other tools about processes that are in the output already: Node's own trace events
//! beside our recording, and the next files of a trace that Node wrote in pieces.

use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::foreign_pids::ForeignPid;
use super::input_process::InputProcess;
use super::processes::{OutputProcess, OutputProcesses};
use crate::read::sniff::FirstEvent;
use cpu_prof_core::files::input::Input;

/// Time by which another tool's events can come before or after a recording, microseconds.
const TOLERANCE_US: i64 = 60_000_000;

/// A trace that is no recording.
#[derive(Debug)]
pub(crate) struct OtherTrace {
    /// Index of the input.
    pub input: usize,
    /// Number of the first trace whose ids are of the same process.
    pub id_space: usize,
    /// Process that the output has already, or will have by another trace.
    pub home: Option<Home>,
}

/// The process that a trace belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    /// Process id in the trace.
    pub own_pid: u32,
    /// Process id in the output.
    pub pid: u32,
    /// The process among the inputs.
    pub process: InputProcess,
    /// Whether another input names the process.
    pub is_named: bool,
    /// Recorded threads, by the system's thread ids.
    threads: FxHashMap<u32, u32>,
}

/// Finds the processes of traces. Each trace is given by its input and its first event; merged traces
/// have none.
pub(crate) fn find_homes(
    traces: Vec<(usize, Option<FirstEvent>)>,
    inputs: &[Input],
    processes: &mut OutputProcesses,
) -> Vec<OtherTrace> {
    let mut spaces: FxHashMap<u32, usize> = FxHashMap::default();
    let mut logs: FxHashMap<(PathBuf, u32), Home> = FxHashMap::default();
    let mut found = Vec::new();
    for (number, (input, first)) in traces.into_iter().enumerate() {
        let recorded = first.and_then(|first| Home::among(&processes.list, first));
        let log = log_folder(&inputs[input].path).zip(first);
        let home = match (recorded, log) {
            (Some(home), _) => Some(home),
            (None, Some((folder, first))) => {
                let known = logs.entry((folder, first.pid));
                let is_named = matches!(known, Entry::Occupied(_));
                let home = known.or_insert_with(|| {
                    let pid = processes.take_pid(first.pid);
                    Home::of_log(first, pid, InputProcess::Other(input, first.pid.into()))
                });
                Some(Home { is_named, ..home.clone() })
            }
            (None, None) => None,
        };
        let id_space = match &home {
            Some(home) => *spaces.entry(home.pid).or_insert(number),
            None => number,
        };
        found.push(OtherTrace { input, id_space, home });
    }
    found
}

impl Home {
    /// Finds the recorded process of this pid and time.
    fn among(processes: &[OutputProcess], first: FirstEvent) -> Option<Self> {
        let mut all = (0..).zip(processes);
        let (index, process) = all.find(|(_, process)| {
            let (start_us, end_us) = process.span_us();
            let near = start_us.saturating_sub(TOLERANCE_US)..=end_us.saturating_add(TOLERANCE_US);
            process.own_pid == Some(first.pid) && near.contains(&first.ts)
        })?;
        let mut threads = FxHashMap::default();
        for recording in process.threads.values().flatten() {
            let id = recording.program.get("osThreadId").and_then(Value::as_u64);
            // The first thread has the id of the process.
            let id = id.or_else(|| (recording.tid == 0).then_some(u64::from(first.pid)));
            if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
                threads.insert(id, recording.tid);
            }
        }
        let (own_pid, pid) = (first.pid, process.pid);
        let process = InputProcess::Recorded(index);
        Some(Self { own_pid, pid, process, is_named: true, threads })
    }

    fn of_log(first: FirstEvent, pid: u32, process: InputProcess) -> Self {
        let threads = FxHashMap::default();
        Self { own_pid: first.pid, pid, process, is_named: false, threads }
    }

    /// Returns whether a pid of the trace is that of the process.
    pub(crate) fn is_of(&self, pid: &ForeignPid) -> bool {
        *pid == self.own_pid.into()
    }

    /// Returns the process of a pid of a trace.
    pub(crate) fn process(home: Option<&Self>, input: usize, pid: &ForeignPid) -> InputProcess {
        match home.filter(|home| home.is_of(pid)) {
            Some(home) => home.process.clone(),
            None => InputProcess::Other(input, pid.clone()),
        }
    }

    /// Returns whether a thread of the output was recorded.
    pub(crate) fn has(&self, tid: u32) -> bool {
        self.threads.values().any(|recorded| *recorded == tid)
    }

    /// Returns the thread id in the output, where the thread was recorded.
    pub(crate) fn recorded(&self, tid: u32) -> Option<u32> {
        self.threads.get(&tid).copied()
    }
}

/// Returns the folder of a log that Node wrote in pieces (`node_trace.2.log`); none for other files.
fn log_folder(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let number = name.strip_prefix("node_trace.")?.strip_suffix(".log")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| path.with_file_name(""))
}
