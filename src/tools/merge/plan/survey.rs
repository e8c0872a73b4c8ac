//! A first reading of all inputs: times, names, and how much each thread worked.

use std::collections::BTreeMap;
use std::slice::from_ref;

use super::times::EventTimes;
use crate::merge::findings::thread_cpu::ThreadCpu;
use crate::merge::inputs::chosen_threads::InputProcess;
use crate::merge::inputs::event::SoundEvent;
use crate::merge::inputs::foreign_pid::ForeignPid;
use crate::merge::inputs::merge_inputs::MergeInputs;
use crate::merge::inputs::other_trace::OtherTrace;
use crate::merge::inputs::recorded_processes::RecordedProcess;
use crate::read::load::load;
use cpu_prof_core::format::trace::event::event_json::EventJson;
use cpu_prof_core::format::trace::event::event_names::FRAMES;
use cpu_prof_core::format::trace::event::event_times::TraceTimes;
use cpu_prof_core::format::trace::event::head::Member;
use cpu_prof_core::format::trace::read::process_names::TraceNames;
use cpu_prof_core::format::trace::scan::{Item, Scanner, SoundItem};
use cpu_prof_core::profile::frame_table::FrameTable;
use cpu_prof_core::profile::session::thread_profile::ReadScope;
use cpu_prof_core::profile::session::{Process, Thread};

/// A process that was found.
#[derive(Debug, Default)]
pub(crate) struct SurveyedProcess {
    /// Process id, if the process has a number.
    pub pid: i64,
    /// Name with the arguments: `tsc -p .`.
    pub command: String,
    /// Threads by their ids.
    pub threads: BTreeMap<u32, SurveyedThread>,
}

/// A thread that was found.
#[derive(Debug, Default)]
pub(crate) struct SurveyedThread {
    /// Name within the process: `main`.
    pub name: String,
    pub cpu: ThreadCpu,
}

/// The result of a first reading.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Times of all events.
    pub times: EventTimes,
    /// Processes; empty unless they are needed.
    pub processes: BTreeMap<InputProcess, SurveyedProcess>,
}

/// The facts that are needed of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SurveyDepth {
    Times,
    Names,
    Cpu,
}

/// The threads of one input.
type Threads = BTreeMap<(ForeignPid, u32), SurveyedThread>;

impl Survey {
    /// Reads all inputs.
    pub(crate) fn of(inputs: &MergeInputs<'_>, depth: SurveyDepth) -> Self {
        let mut survey = Self::default();
        for (index, process) in inputs.recorded().iter().enumerate() {
            survey.recorded(index, process, inputs, depth);
        }
        for other in inputs.others() {
            survey.other(other, inputs, depth);
        }
        survey
    }

    fn other(&mut self, trace: &OtherTrace, inputs: &MergeInputs<'_>, depth: SurveyDepth) {
        let (threads, mut names, times) = self.trace(trace.input, inputs, depth);
        self.times.inputs.trace(times);
        for ((pid, tid), thread) in threads {
            let tid = trace.recorded_thread(&pid, tid).unwrap_or(tid);
            let found = self.processes.entry(trace.process(&pid)).or_default();
            if let ForeignPid::Number(number) = pid {
                found.pid = number;
            }
            found.threads.entry(tid).or_insert(thread);
        }
        for (key, found) in &mut self.processes {
            if let InputProcess::Other(of, ForeignPid::Number(number)) = key
                && *of == trace.input
            {
                found.take_names(*number, &mut names);
            }
        }
        if depth == SurveyDepth::Cpu {
            self.sampled(trace.input, inputs);
        }
    }

    fn recorded(
        &mut self,
        index: usize,
        process: &RecordedProcess,
        inputs: &MergeInputs<'_>,
        depth: SurveyDepth,
    ) {
        let mut found = SurveyedProcess { pid: process.known_pid().into(), ..Default::default() };
        let mut facts = process.clock_facts();
        for recording in process.recordings() {
            let known = found.threads.entry(recording.tid).or_default();
            if recording.is_cpuprofile {
                let bytes = text_bytes(recording.input, inputs);
                self.times.histogram.add_cpuprofile(recording, bytes);
                if depth == SurveyDepth::Cpu {
                    let path = &inputs.file(recording.input).path;
                    let loaded = load(from_ref(path), ReadScope::TIMES);
                    let threads = loaded.session.processes.iter().flat_map(|each| &each.threads);
                    known.cpu.add(threads.map(busy_us).sum());
                }
                continue;
            }
            let (threads, mut names, times) = self.trace(recording.input, inputs, depth);
            let ends = times.processes().filter_map(|(_, span)| Some(span.get()?.1));
            facts.end_us = ends.fold(facts.end_us, i64::max);
            let cpu_us = threads.values().filter_map(|thread| thread.cpu.sum_us).max();
            cpu_us.into_iter().for_each(|cpu_us| known.cpu.add(cpu_us));
            found.take_names(found.pid, &mut names);
        }
        if found.command.is_empty() {
            found.command.clone_from(&process.label);
        }
        self.times.inputs.recorded.push(facts);
        self.processes.insert(InputProcess::Recorded(index), found);
    }

    /// Reads a trace, given by the index of its input. Damage is noted later, when the trace is copied.
    fn trace(
        &mut self,
        input: usize,
        inputs: &MergeInputs<'_>,
        depth: SurveyDepth,
    ) -> (Threads, TraceNames, TraceTimes) {
        let (mut threads, mut names) = (Threads::default(), TraceNames::default());
        let mut times = TraceTimes::default();
        let Ok(mut items) = inputs.open(input) else { return (threads, names, times) };
        while let Ok(Some(item)) = items.next() {
            let event = match item {
                SoundItem::Event { text, head } => SoundEvent { text, head },
                SoundItem::Member { key, value } => {
                    times.member(key, value);
                    continue;
                }
            };
            let SoundEvent { text, head } = event;
            if let Some(ts) = times.event(head, text) {
                self.times.histogram.add(ts, text.len());
            }
            if depth == SurveyDepth::Times {
                continue;
            }
            let name = event.name();
            let is_name = [&b"process_name"[..], b"thread_name"].contains(&name);
            if (is_name || FRAMES.contains(&name))
                && let Some(json) = EventJson::read(text, head)
            {
                names.event(&json);
            }
            let pid = head.written(Member::Pid, text).map(ForeignPid::read);
            if let Some(pid) = pid.filter(|_| !event.is_metadata()) {
                let tid = head.tid(text).unwrap_or_default();
                let thread = threads.entry((pid, tid)).or_default();
                if event.is_counter() {
                    thread.cpu.read(name, text);
                }
            }
        }
        (threads, names, times)
    }

    /// Counts the samples of the threads that have no counters.
    fn sampled(&mut self, input: usize, inputs: &MergeInputs<'_>) {
        let is_of = |key: &InputProcess| matches!(key, InputProcess::Other(of, _) if *of == input);
        let mut found = self.processes.iter().filter(|(key, _)| is_of(key));
        let is_counted = |process: &SurveyedProcess| {
            process.threads.values().any(|thread| thread.cpu.sum_us.is_some())
        };
        if found.any(|(_, process)| is_counted(process)) {
            return;
        }
        let path = &inputs.file(input).path;
        for process in load(from_ref(path), ReadScope::TIMES).session.processes {
            let key = InputProcess::Other(input, ForeignPid::Number(process.pid));
            let Some(found) = self.processes.get_mut(&key) else { continue };
            for thread in &process.threads {
                let tid = u32::try_from(thread.id).unwrap_or_default();
                if let Some(found) = found.threads.get_mut(&tid) {
                    found.cpu.add(busy_us(thread));
                }
            }
        }
    }
}

impl SurveyedProcess {
    /// Takes the names of the process and its threads from those of an input.
    fn take_names(&mut self, pid: i64, names: &mut TraceNames) {
        let names = names.take(pid);
        for (tid, thread) in &mut self.threads {
            if let Some(name) = names.known_thread(i64::from(*tid)) {
                name.clone_into(&mut thread.name);
            }
        }
        let Process { command, .. } = names.process(pid, Vec::new());
        if self.command.is_empty() {
            self.command = command;
        }
    }
}

/// Returns the time in which a thread worked: microseconds.
fn busy_us(thread: &Thread) -> u64 {
    let nodes = thread.profiles.iter().flat_map(|profile| &profile.nodes);
    let busy = nodes.filter(|node| ![FrameTable::IDLE, FrameTable::ROOT].contains(&node.frame));
    busy.map(|node| node.self_us).fold(0, u64::saturating_add)
}

/// Returns the size of a `.cpuprofile`'s text, about the size of the events in the trace.
fn text_bytes(input: usize, inputs: &MergeInputs<'_>) -> usize {
    let Ok(reader) = inputs.open_text(input) else { return 0 };
    let mut scanner = Scanner::new(reader);
    let mut bytes = 0;
    while let Ok(Some(item)) = scanner.next() {
        if let Item::Member { value, .. } = item {
            bytes += value.len();
        }
    }
    bytes
}
