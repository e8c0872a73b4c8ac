//! Facts in a `.cpuprofile` of this crate about its process and thread. The format itself has no place
//! for these facts, and a file can have any name.

use serde::Serialize;

use crate::base::settings::start::StartReason;
use crate::format::trace::write::thread::ThreadInfo;
use crate::format::trace::write::thread_names::thread_name;
use crate::profile::label::pid_mark;
use crate::profile::session::{Process, Thread};
use crate::profile::wall_time;

/// The facts, under the names that they have in a trace's metadata.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFacts {
    pid: i64,
    thread_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ppid: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ancestors: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    /// Wall time at the start of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_start_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster_worker: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid_namespace: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    /// Label of the process: `nx: run-many (pid 4242)`
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// Short label of the process: `nx (pid 4242)`
    process_name: String,
    /// Name of the thread within its process: `worker 3: crunch.js`
    thread_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording_label: Option<String>,
    /// Why the recording started, if not with its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<StartReason>,
}

impl ProfileFacts {
    /// Returns the facts of a recording.
    pub fn of_recording(info: &ThreadInfo) -> Self {
        let program = info.program.clone();
        Self {
            pid: program.pid.into(),
            thread_id: info.thread_id.into(),
            ppid: program.ppid.map(i64::from),
            ancestors: program.ancestors.iter().map(|pid| i64::from(*pid)).collect(),
            label: Some(program.url_label()),
            process_name: program.short_label(),
            thread_name: thread_name(info.thread_id, None),
            recording_label: info.recording_label.clone(),
            start: info.start.clone(),
            start_time: Some(info.started.clone()),
            cwd: Some(program.cwd),
            node: Some(program.node),
            process_start_ms: program.process_start_ms,
            boot: program.boot,
            process_key: program.process_key,
            cluster_worker: program.cluster_worker,
            pid_namespace: program.pid_namespace,
            run: program.run,
        }
    }

    /// Returns the facts of a thread that was read; none if its process is not known.
    pub fn of_thread(process: &Process, thread: &Thread) -> Option<Self> {
        let pid = process.pid;
        if pid == 0 {
            return None;
        }
        let identity = process.identity.as_ref();
        let label = process.url_label.as_ref();
        let wall_us = process.wall_zero_us.and_then(|zero| zero.checked_add(thread.start_us()));
        Some(Self {
            pid,
            thread_id: thread.id,
            ppid: process.parent_pid,
            ancestors: process.ancestors.clone(),
            cwd: process.cwd.clone(),
            node: process.node.clone(),
            start_time: wall_us.and_then(wall_time::to_iso),
            process_start_ms: identity.map(|identity| identity.process_start_ms),
            boot: identity.map(|identity| identity.boot.clone()),
            process_key: identity.and_then(|identity| identity.key.clone()),
            cluster_worker: process.cluster_worker,
            pid_namespace: identity.and_then(|identity| identity.pid_namespace),
            run: None,
            label: label.map(|label| format!("{label} {}", pid_mark(pid))),
            process_name: process.label(),
            thread_name: thread.name.clone(),
            recording_label: thread.recording_label.clone(),
            start: thread.start.clone().or_else(|| met_at_start(process, thread)),
        })
    }

    /// Names a worker, whose name is known only after its recording has started.
    pub fn name_worker(&mut self, name: &str) {
        if let Ok(id) = u32::try_from(self.thread_id) {
            self.thread_name = thread_name(id, Some(name));
        }
    }
}

/// Returns the condition that started the recording of a main thread, by the mark in its trace: a merged
/// trace has no other place for the reason.
fn met_at_start(process: &Process, thread: &Thread) -> Option<StartReason> {
    let (_, met) = process.met_conditions.iter().find(|(_, met)| !met.is_kept)?;
    let (reason, observed) = (met.reason.clone(), met.observed.clone());
    thread.is_main().then_some(StartReason::Condition { reason, observed })
}
