//! Chooses the processes and threads that go into the trace, by their names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::inputs::chosen_threads::{ChosenThreads, InputProcess};
use super::inputs::event::SoundEvent;
use super::inputs::foreign_pid::ForeignPid;
use super::inputs::merge_inputs::MergeInputs;
use super::inputs::other_trace::OtherTrace;
use super::inputs::recorded_processes::RecordedProcess;
use super::result::MergeError;
use crate::read::filter::command_label;
use cpu_prof_core::format::trace::event_names::FRAMES;
use cpu_prof_core::format::trace::write::thread_names::thread_name;
use cpu_prof_session::formats::trace::event::event_json::EventJson;
use cpu_prof_session::formats::trace::event::head::Member;
use cpu_prof_session::formats::trace::read::process_names::TraceNames;
use cpu_prof_session::formats::trace::scan::SoundItem;
use cpu_prof_session::model::Process;

/// The names of a process and its threads.
#[derive(Debug, Default)]
struct NamedProcess {
    /// Process id, if the process has a number.
    pid: i64,
    /// Name with the arguments: `tsc -p .`.
    command: String,
    /// Names within the process, by thread id; empty for a thread without a name.
    threads: BTreeMap<u32, String>,
}

/// All processes of the inputs.
type NamedProcesses = BTreeMap<InputProcess, NamedProcess>;

/// Chooses the threads that the filter asks for. Reads all inputs.
pub(super) fn choose_threads(inputs: &MergeInputs<'_>) -> Result<ChosenThreads, MergeError> {
    let mut all = NamedProcesses::new();
    for (index, process) in inputs.recorded().iter().enumerate() {
        all.insert(InputProcess::Recorded(index), NamedProcess::recorded(process, inputs));
    }
    for other in inputs.others() {
        add_other(other, inputs, &mut all);
    }
    let filter = &inputs.options().filter;
    let mut chosen = Vec::new();
    for (key, NamedProcess { pid, command, threads }) in &all {
        let is_recorded = matches!(key, InputProcess::Recorded(_));
        let has_process = filter.has_process(*pid, [command.as_str()]);
        for (tid, name) in threads.iter().filter(|_| has_process) {
            let name = match (name.as_str(), *tid) {
                ("", tid) if is_recorded || tid == 0 => thread_name(tid, None),
                ("", tid) => format!("thread {tid}"),
                (name, _) => name.to_owned(),
            };
            if filter.has_thread((*tid).into(), &name) {
                chosen.push((key.clone(), *tid));
            }
        }
    }
    if chosen.is_empty() {
        let label = |process: &NamedProcess| command_label(&process.command, process.pid);
        let labels: Vec<_> = all.values().map(label).collect();
        return Err(MergeError::NothingLeft { reason: filter.nothing_left(&labels) });
    }
    Ok(ChosenThreads::of(chosen.into_iter()))
}

/// Adds the processes of a trace that is not a recording.
fn add_other(trace: &OtherTrace, inputs: &MergeInputs<'_>, all: &mut NamedProcesses) {
    let (threads, mut names) = read(trace.input, inputs);
    for (pid, tid) in threads {
        let tid = trace.recorded_thread(&pid, tid).unwrap_or(tid);
        let found = all.entry(trace.process(&pid)).or_default();
        if let ForeignPid::Number(number) = pid {
            found.pid = number;
        }
        found.threads.entry(tid).or_default();
    }
    for (key, found) in all {
        if let InputProcess::Other(of, ForeignPid::Number(number)) = key
            && *of == trace.input
        {
            found.take_names(*number, &mut names);
        }
    }
}

impl NamedProcess {
    fn recorded(process: &RecordedProcess, inputs: &MergeInputs<'_>) -> Self {
        let mut found = Self { pid: process.known_pid().into(), ..Self::default() };
        for recording in process.recordings() {
            let name = found.threads.entry(recording.tid).or_default();
            if recording.is_cpuprofile {
                if let Some(of_file) = recording.program.get("threadName").and_then(Value::as_str) {
                    of_file.clone_into(name);
                }
            } else {
                let (_, mut names) = read(recording.input, inputs);
                found.take_names(found.pid, &mut names);
            }
        }
        if found.command.is_empty() {
            found.command.clone_from(&process.label);
        }
        found
    }

    /// Takes the names of the process and its threads from those of an input.
    fn take_names(&mut self, pid: i64, names: &mut TraceNames) {
        let names = names.take(pid);
        for (tid, known) in &mut self.threads {
            if let Some(name) = names.known_thread(i64::from(*tid)) {
                name.clone_into(known);
            }
        }
        let Process { command, .. } = names.process(pid, Vec::new());
        if self.command.is_empty() {
            self.command = command;
        }
    }
}

/// Reads the threads and the names of a trace. Damage is noted later, when the trace is copied.
fn read(input: usize, inputs: &MergeInputs<'_>) -> (BTreeSet<(ForeignPid, u32)>, TraceNames) {
    let (mut threads, mut names) = (BTreeSet::new(), TraceNames::default());
    let Ok(mut items) = inputs.open(input) else { return (threads, names) };
    while let Ok(Some(item)) = items.next() {
        let SoundItem::Event { text, head } = item else { continue };
        let event = SoundEvent { text, head };
        let name = event.name();
        let is_name = [&b"process_name"[..], b"thread_name"].contains(&name);
        if (is_name || FRAMES.contains(&name))
            && let Some(json) = EventJson::read(text, head)
        {
            names.event(&json);
        }
        let pid = head.written(Member::Pid, text).map(ForeignPid::read);
        if let Some(pid) = pid.filter(|_| !event.is_metadata()) {
            threads.insert((pid, head.tid(text).unwrap_or_default()));
        }
    }
    (threads, names)
}
