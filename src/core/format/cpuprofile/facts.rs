//! Facts in a `.cpuprofile` of this crate about its process and thread. The format itself has no place
//! for these facts, and a file can have any name.

use serde::Serialize;

use crate::base::settings::start::StartReason;
use crate::format::trace::write::thread::ThreadInfo;
use crate::format::trace::write::thread_names::thread_name;

/// The facts, under the names that they have in a trace's metadata.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFacts {
    pub pid: i64,
    pub thread_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ppid: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Wall time at the start of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_start_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_worker: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Label of the process: `nx: run-many (pid 4242)`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Short label of the process: `nx (pid 4242)`
    pub process_name: String,
    /// Name of the thread within its process: `worker 3: crunch.js`
    pub thread_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording_label: Option<String>,
    /// Why the recording started, if not with its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<StartReason>,
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

    /// Names a worker, whose name is known only after its recording has started.
    pub fn name_worker(&mut self, name: &str) {
        if let Ok(id) = u32::try_from(self.thread_id) {
            self.thread_name = thread_name(id, Some(name));
        }
    }
}
