//! The names of processes and threads in a trace, and the facts of its metadata.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::side_events;
use crate::formats::trace::event::event_json::EventJson;
use crate::model::{Identity, Process, Thread};
use cpu_prof_core::base::outside_text::process_label;
use cpu_prof_core::base::path_text::with_slashes;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::format::trace::ours::OurMember;
use cpu_prof_core::format::trace::process_label::{
    without_place, without_recording_label, worker_role,
};
use cpu_prof_core::format::trace::write::thread_names::{label_after, without_label};
use cpu_prof_core::profile::cpu_use::UnrecordedPrograms;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::met_condition::MetCondition;
use cpu_prof_core::profile::wall_time;

/// The names of all processes of a trace, by process id.
#[derive(Debug, Clone, Default)]
pub struct TraceNames {
    processes: BTreeMap<i64, ProcessNames>,
}

/// The names of a process and its threads.
#[derive(Debug, Clone, Default)]
pub struct ProcessNames {
    /// `process_name`: `nx (pid 4242)`
    name: Option<String>,
    /// The frame's `url`: `nx: run-many (pid 4242)`
    label: Option<String>,
    /// `thread_name`, with its `ts`.
    threads: BTreeMap<i64, (i64, String)>,
    /// Labels of the threads' recordings.
    recording_labels: BTreeMap<i64, String>,
    /// How the process ended, by the event at the end of its recording.
    ending: Option<ProcessEnding>,
    /// Conditions that were met, with their times, microseconds.
    met_conditions: Vec<(i64, MetCondition)>,
    /// Programs under the process that have no recording.
    unrecorded: Option<UnrecordedPrograms>,
    program: ProgramJson,
}

/// The facts of our metadata about a process.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProgramJson {
    pid: Option<i64>,
    ppid: Option<i64>,
    ancestors: Vec<i64>,
    cwd: Option<String>,
    node: Option<String>,
    process_start_ms: Option<u64>,
    boot: Option<String>,
    process_key: Option<String>,
    cluster_worker: Option<u32>,
    pid_namespace: Option<u64>,
    recording_label: Option<String>,
    start: Option<StartReason>,
    /// Wall time at `start_us`, or at the start of the only recording: ISO 8601.
    start_time: Option<String>,
    /// Time between two samples, microseconds.
    interval_us: Option<i64>,
    /// Whether V8 was shown the frames that code had not made.
    finds_leaves: bool,
    /// In a merged trace, the start of the first recording: microseconds.
    start_us: Option<i64>,
    /// In a merged trace, the process's own pid, where another process had the same.
    #[serde(rename = "ownPid")]
    recorded_pid: Option<i64>,
    /// Label of the process: `nx: run-many (pid 4242)`
    label: Option<String>,
    /// In a `.cpuprofile`, the short label of the process: `nx (pid 4242)`
    process_name: Option<String>,
    thread_id: Option<i64>,
    /// In a `.cpuprofile`, the name of the thread within its process.
    thread_name: Option<String>,
    /// In a merged trace, how the process ended.
    #[serde(flatten)]
    ending: ProcessEnding,
}

/// The facts of our metadata: about one process, or in a merged trace about all processes.
#[derive(Deserialize)]
struct OurFacts {
    #[serde(flatten)]
    program: ProgramJson,
    #[serde(default)]
    processes: Vec<ProgramJson>,
}

/// The start of a trace.
#[derive(Deserialize)]
struct FileStart {
    #[serde(rename = "startTime")]
    start_time: Option<String>,
}

#[derive(Deserialize)]
struct NameArgs {
    name: String,
}

#[derive(Deserialize)]
struct FrameArgs {
    data: FrameData,
}

/// The data of TracingStartedInBrowser, which has a list of frames, and of FrameCommittedInBrowser,
/// which is a frame itself.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct FrameData {
    frames: Vec<FrameLabel>,
    process_id: Option<i64>,
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct FrameLabel {
    process_id: Option<i64>,
    url: String,
}

impl TraceNames {
    /// Reads an event, if it names a process or a thread.
    pub fn event(&mut self, event: &EventJson<'_>) {
        let Some(args) = event.args else { return };
        match &*event.name {
            "process_name" => {
                if let Ok(NameArgs { name }) = serde_json::from_str(args) {
                    self.process(event.pid.0).name = Some(name);
                }
            }
            "thread_name" => {
                if let Ok(NameArgs { name }) = serde_json::from_str(args) {
                    self.process(event.pid.0).name_thread(event.tid.0, event.ts.0, name);
                }
            }
            "TracingStartedInBrowser" | "FrameCommittedInBrowser" => self.frames(event, args),
            _ => {}
        }
    }

    /// Reads how a process ended from the end of its main thread's recording.
    pub(super) fn ended(&mut self, event: &EventJson<'_>) {
        let ending = side_events::data_of::<ProcessEnding>(event);
        if let Some(ending) = ending.filter(ProcessEnding::is_known) {
            self.process(event.pid.0).ending = Some(ending);
        }
    }

    /// Reads the mark of a condition that was met.
    pub(super) fn met_condition(&mut self, event: &EventJson<'_>) {
        if let Some(met) = side_events::met_condition(event) {
            self.process(event.pid.0).met_conditions.push((event.ts.0, met));
        }
    }

    /// Reads what ran under a process without a recording.
    pub(super) fn unrecorded(&mut self, event: &EventJson<'_>) {
        if let Some(programs) = side_events::data_of(event) {
            self.process(event.pid.0).unrecorded = Some(programs);
        }
    }

    /// Reads the file's metadata.
    pub(super) fn metadata(&mut self, value: &[u8]) {
        let Ok(OurMember { mut facts }) = serde_json::from_slice::<OurMember<OurFacts>>(value)
        else {
            return;
        };
        // A recording has its start beside the facts.
        let of_file = serde_json::from_slice::<FileStart>(value).ok();
        facts.program.start_time = of_file.and_then(|file| file.start_time);
        for program in facts.processes.into_iter().chain([facts.program]) {
            if let Some(pid) = program.pid {
                self.process(pid).program = program;
            }
        }
    }

    /// Reads the facts of a `.cpuprofile`. Returns the ids of its process and its thread.
    pub(crate) fn of_cpuprofile(&mut self, facts: &[u8]) -> Option<(i64, i64)> {
        let mut program: ProgramJson = serde_json::from_slice(facts).ok()?;
        let (pid, tid) = (program.pid?, program.thread_id?);
        let names = self.process(pid);
        names.name = program.process_name.take();
        names.label = program.label.take().as_deref().map(process_label);
        if let Some(name) = program.thread_name.take() {
            names.threads.insert(tid, (0, name));
        }
        if let Some(label) = program.recording_label.take() {
            names.recording_labels.insert(tid, label);
        }
        names.program = program;
        Some((pid, tid))
    }

    /// Takes the names of a process out.
    pub fn take(&mut self, pid: i64) -> ProcessNames {
        self.processes.remove(&pid).unwrap_or_default()
    }

    fn frames(&mut self, event: &EventJson<'_>, args: &str) {
        let Ok(FrameArgs { data }) = serde_json::from_str(args) else { return };
        let one = FrameLabel { process_id: data.process_id, url: data.url };
        for frame in data.frames.into_iter().chain([one]) {
            // The URL of a page is not a label of a process.
            if without_pid(&frame.url).is_some() {
                let pid = frame.process_id.unwrap_or(event.pid.0);
                self.process(pid).label = Some(process_label(&frame.url));
            }
        }
    }

    fn process(&mut self, pid: i64) -> &mut ProcessNames {
        self.processes.entry(pid).or_default()
    }
}

impl ProcessNames {
    /// Returns the name of a thread within its process.
    pub fn thread(&self, tid: i64) -> String {
        match self.known_thread(tid) {
            Some(name) => name.to_owned(),
            None if tid == 0 => "main".to_owned(),
            None => format!("thread {tid}"),
        }
    }

    /// Returns the name of a thread within its process, if an event has named the thread.
    pub fn known_thread(&self, tid: i64) -> Option<&str> {
        let (_, name) = self.threads.get(&tid)?;
        let name = without_label(name, self.name.as_deref().unwrap_or_default());
        (!name.is_empty()).then_some(name)
    }

    /// Returns the label of a thread's recording.
    pub fn recording_label(&self, tid: i64) -> Option<String> {
        self.recording_labels.get(&tid).cloned()
    }

    /// Returns the process with its names.
    pub fn process(mut self, pid: i64, threads: Vec<Thread>) -> Process {
        if let (Some(label), Some(cwd)) = (&mut self.label, &self.program.cwd) {
            *label = without_place(label, cwd);
        }
        if let (Some(label), Some(of_recording)) = (&mut self.label, &self.program.recording_label)
        {
            *label = without_recording_label(label, of_recording);
        }
        let (name, command) = (self.short_name(), self.command());
        let wall_zero_us = self.wall_zero_us(&threads);
        let ending = Some(self.program.ending).filter(ProcessEnding::is_known).or(self.ending);
        // A converted trace has these members, without values.
        let is_known = |text: &String| !text.is_empty();
        let ProgramJson { process_start_ms, boot, process_key, pid_namespace, .. } = self.program;
        let cluster_worker = self.program.cluster_worker;
        let ProgramJson { ppid, ancestors, cwd, node, recorded_pid, .. } = self.program;
        let identity = process_start_ms.zip(boot).map(|(process_start_ms, boot)| Identity {
            process_start_ms,
            boot,
            key: process_key,
            pid_namespace,
        });
        Process {
            pid: recorded_pid.unwrap_or(pid),
            name,
            command,
            url_label: self.label.as_deref().and_then(without_pid).map(str::to_owned),
            cwd: cwd.filter(is_known).map(|cwd| with_slashes(&cwd).into_owned()),
            parent_pid: ppid.filter(|pid| *pid > 0),
            ancestors,
            node: node.filter(is_known),
            identity,
            ending,
            cluster_worker,
            met_conditions: self.met_conditions,
            unrecorded: self.unrecorded,
            threads,
            wall_zero_us,
            interval_us: self.program.interval_us.filter(|us| *us > 0),
            finds_leaves: self.program.finds_leaves,
            ..Process::default()
        }
    }

    /// Returns the wall time of microsecond 0: microseconds after 1970.
    fn wall_zero_us(&self, threads: &[Thread]) -> Option<i64> {
        let wall_us = wall_time::from_iso(self.program.start_time.as_deref()?)?;
        let profiles = threads.iter().flat_map(|thread| &thread.profiles);
        let first_us = || profiles.map(|profile| profile.recorded_us.0).min();
        wall_us.checked_sub(self.program.start_us.or_else(first_us)?)
    }

    /// Returns why the recording of a thread started, if the file is that recording.
    pub fn start(&self, tid: i64) -> Option<StartReason> {
        self.program.start.clone().filter(|_| self.program.thread_id == Some(tid))
    }

    fn short_name(&self) -> String {
        match &self.name {
            Some(name) => without_pid(name).unwrap_or(name).to_owned(),
            None => "process".to_owned(),
        }
    }

    /// Returns the name with the arguments that the label has.
    fn command(&self) -> String {
        let name = self.short_name();
        let label = self.label.as_deref().and_then(without_pid);
        // The label has the role of a worker before the arguments.
        let role = self.program.cluster_worker.map(worker_role).unwrap_or_default();
        let name = name.strip_suffix(&role).unwrap_or(&name).trim_end();
        let arguments =
            label.and_then(|label| label.split_once(':')).map(|(_, rest)| rest.trim_start());
        match arguments {
            None | Some("") => self.short_name(),
            Some(arguments) => format!("{name} {arguments}"),
        }
    }

    /// Sets the name of a thread. The name of the latest time holds: a main thread has an earlier
    /// name for DevTools, and a worker a later name with its script.
    fn name_thread(&mut self, tid: i64, ts: i64, name: String) {
        let known = self.threads.entry(tid).or_insert((i64::MIN, String::new()));
        if let Some(label) = label_after(&known.1, ts, &name) {
            self.recording_labels.insert(tid, label.to_owned());
            return;
        }
        if ts >= known.0 {
            *known = (ts, name);
        }
    }
}

/// Returns `nx: run-many` of `nx: run-many (pid 4242)`; none without such an end. A merge puts a
/// mark behind the end (` #2`) where two processes had one pid.
pub fn without_pid(label: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let label = match label.rsplit_once(" #") {
        Some((start, mark)) if is_number(mark) => start,
        _ => label,
    };
    let (start, pid) = label.strip_suffix(')')?.rsplit_once("(pid ")?;
    (is_number(pid) || pid == "unknown").then(|| start.trim_end())
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
