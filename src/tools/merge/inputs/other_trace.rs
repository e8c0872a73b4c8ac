//! Traces that are not recordings, and the processes that they are about. The output can have such a
//! process already: from our recording beside Node's own trace events, or from the pieces before of a
//! trace that Node wrote in pieces.

use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::chosen_threads::InputProcess;
use super::foreign_pid::ForeignPid;
use super::recorded_processes::RecordedProcess;
use super::taken_pids::TakenPids;
use crate::read::sniff::FirstEvent;
use cpu_prof_core::files::input::Input;

/// Time by which another tool's events can come before or after a recording, microseconds.
const TOLERANCE_US: i64 = 60_000_000;

/// A trace that is not a recording.
#[derive(Debug)]
pub struct OtherTrace {
    /// Index of the input.
    pub input: usize,
    /// Number of the first trace whose ids are of the same process.
    pub id_space: usize,
    /// Process of the trace that the output has already, or will have by another trace.
    pub host: Option<TraceHost>,
}

/// The process that a trace is about.
#[derive(Debug, Clone)]
pub struct TraceHost {
    /// Pid in the trace.
    pub foreign_pid: ForeignPid,
    /// Pid in the output.
    pub pid: u32,
    /// Whether another input names the process.
    pub is_named: bool,
    /// The process among the inputs.
    process: InputProcess,
    /// Recorded threads, by the system's thread ids.
    threads: FxHashMap<u32, u32>,
}

/// Finds the processes that traces are about. Each trace is given by its input and its first event;
/// merged traces have none.
pub(crate) fn find_hosts(
    traces: Vec<(usize, Option<FirstEvent>)>,
    files: &[Input],
    recorded: &[RecordedProcess],
    pids: &mut TakenPids,
) -> Vec<OtherTrace> {
    let mut id_spaces: FxHashMap<u32, usize> = FxHashMap::default();
    let mut logs: FxHashMap<(PathBuf, u32), TraceHost> = FxHashMap::default();
    let mut found = Vec::new();
    for (number, (input, first)) in traces.into_iter().enumerate() {
        let host = first.and_then(|first| TraceHost::find(recorded, first)).or_else(|| {
            let (folder, first) = log_folder(&files[input].path).zip(first)?;
            let known = logs.entry((folder, first.pid));
            let is_named = matches!(known, Entry::Occupied(_));
            let host = known.or_insert_with(|| TraceHost::of_log(input, first.pid, pids));
            Some(TraceHost { is_named, ..host.clone() })
        });
        let id_space = match &host {
            Some(host) => *id_spaces.entry(host.pid).or_insert(number),
            None => number,
        };
        found.push(OtherTrace { input, id_space, host });
    }
    found
}

impl OtherTrace {
    /// Returns the process of a pid of the trace.
    pub fn process(&self, pid: &ForeignPid) -> InputProcess {
        match self.host_of(pid) {
            Some(host) => host.process.clone(),
            None => InputProcess::Other(self.input, pid.clone()),
        }
    }

    /// Returns the id in the output of a thread that was recorded; none for other threads.
    pub fn recorded_thread(&self, pid: &ForeignPid, tid: u32) -> Option<u32> {
        self.host_of(pid)?.threads.get(&tid).copied()
    }

    /// Returns whether another input names a process.
    pub(crate) fn is_named_elsewhere(&self, pid: &ForeignPid) -> bool {
        self.host_of(pid).is_some_and(|host| host.is_named)
    }

    fn host_of(&self, pid: &ForeignPid) -> Option<&TraceHost> {
        self.host.as_ref().filter(|host| host.foreign_pid == *pid)
    }
}

impl TraceHost {
    /// Finds the recorded process of this pid and time.
    fn find(recorded: &[RecordedProcess], first: FirstEvent) -> Option<Self> {
        let (index, process) = (0..).zip(recorded).find(|(_, process)| {
            let (start_us, end_us) = process.span_us();
            let near = start_us.saturating_sub(TOLERANCE_US)..=end_us.saturating_add(TOLERANCE_US);
            process.recorded_pid == Some(first.pid) && near.contains(&first.ts)
        })?;
        let mut threads = FxHashMap::default();
        for recording in process.recordings() {
            let id = recording.program.get("osThreadId").and_then(Value::as_u64);
            // The first thread has the id of the process.
            let id = id.or_else(|| (recording.tid == 0).then_some(u64::from(first.pid)));
            if let Some(id) = id.and_then(|id| u32::try_from(id).ok()) {
                threads.insert(id, recording.tid);
            }
        }
        Some(Self {
            foreign_pid: first.pid.into(),
            pid: process.pid,
            is_named: true,
            process: InputProcess::Recorded(index),
            threads,
        })
    }

    /// Returns the process of a log, which no other input has named so far.
    fn of_log(input: usize, pid: u32, pids: &mut TakenPids) -> Self {
        Self {
            foreign_pid: pid.into(),
            pid: pids.take(pid),
            is_named: false,
            process: InputProcess::Other(input, pid.into()),
            threads: FxHashMap::default(),
        }
    }

    /// Returns whether a thread of the output was recorded.
    pub(crate) fn has_recorded(&self, tid: u32) -> bool {
        self.threads.values().any(|recorded| *recorded == tid)
    }
}

/// Returns the folder of a log that Node wrote in pieces (`node_trace.2.log`); none for other files.
fn log_folder(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let number = name.strip_prefix("node_trace.")?.strip_suffix(".log")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| path.with_file_name(""))
}
