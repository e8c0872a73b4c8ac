//! The recorded processes of a merge: their recordings, pids and labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use crate::read::group::{ClockFacts, Placement, find_clocks, group};
use crate::read::sniff::RecordingFile;
use crate::read::time_line::is_far;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::cpuprofile::file_name::ids_from_file_name;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::program::Program;

/// A process with the recordings of its threads.
#[derive(Debug, Clone)]
pub(crate) struct OutputProcess {
    /// Pid in the trace.
    pub pid: u32,
    /// Pid at the time of the recording, if known. Several processes can have had the same.
    pub own_pid: Option<u32>,
    /// Mark at the end of the label where another process has the same pid: ` #2`.
    pub mark: Option<String>,
    /// Start of the first recording, microseconds.
    pub start_us: i64,
    /// Label for DevTools.
    pub url: String,
    /// Facts from the headers of the recordings.
    pub program: Map<String, Value>,
    /// Recordings by thread id, in the order of their starts.
    pub threads: BTreeMap<u32, Vec<RecordingFile>>,
    /// Index of the clock; 0 is the clock of most recordings.
    pub clock: usize,
}

/// All recorded processes.
#[derive(Debug, Default, Clone)]
pub(crate) struct OutputProcesses {
    /// Processes in the order of their clocks, then of their starts.
    pub list: Vec<OutputProcess>,
    /// Pids in the trace.
    pub pids: BTreeSet<u32>,
    /// Inputs that are left out, because other inputs hold their recordings.
    pub duplicates: Vec<usize>,
    /// Start and end of each process's recordings, microseconds.
    spans_us: Vec<(i64, i64)>,
}

/// First of the pids that no system assigns.
const FREE_PIDS: u32 = 10_000_000;

impl OutputProcesses {
    /// Sorts recordings into processes.
    pub(crate) fn of(recordings: Vec<RecordingFile>, inputs: &[Input]) -> Self {
        let mut found = Self::default();
        let with_facts = recordings.into_iter().map(|recording| {
            let facts = recording.facts();
            (recording, facts)
        });
        for (recording, placement) in group(with_facts) {
            match placement {
                Placement::Duplicate => found.duplicates.push(recording.input),
                Placement::Known(index) => found.list[index].add(recording),
                Placement::New => found.list.push(OutputProcess::new(recording)),
            }
        }
        found.find_clocks();
        found.list.sort_by_key(|process| (process.clock, process.start_us));
        found.number();
        for process in &mut found.list {
            process.label(inputs);
        }
        found.spans_us = found.list.iter().map(OutputProcess::span_us).collect();
        found
    }

    /// Returns whether a time is far from all recordings.
    pub(crate) fn are_far_from(&self, ts: i64) -> bool {
        is_far(ts, &self.spans_us)
    }

    /// Returns this pid if it is free in the trace, else another one.
    pub(super) fn take_pid(&mut self, pid: u32) -> u32 {
        if self.pids.insert(pid) { pid } else { self.new_pid() }
    }

    /// Returns a pid that no system assigns.
    pub(super) fn new_pid(&mut self) -> u32 {
        let last = self.pids.last().copied().unwrap_or_default();
        let free = last.saturating_add(1).max(FREE_PIDS);
        self.pids.insert(free);
        free
    }

    /// Gives each process a pid in the trace.
    fn number(&mut self) {
        let mut times: BTreeMap<u32, u32> = BTreeMap::new();
        let mut list = std::mem::take(&mut self.list);
        // Processes that keep their pids come first.
        for process in &mut list {
            if let Some(pid) = process.own_pid {
                let time = times.entry(pid).or_default();
                *time += 1;
                match time {
                    1 => process.pid = self.take_pid(pid),
                    time => process.mark = Some(format!(" #{time}")),
                }
            }
        }
        for process in list.iter_mut().filter(|process| process.pid == 0) {
            process.pid = self.take_pid(process.own_pid.unwrap_or(FREE_PIDS));
        }
        self.list = list;
    }

    fn find_clocks(&mut self) {
        let facts: Vec<_> = self.list.iter().map(OutputProcess::clock_facts).collect();
        let (_, indices) = find_clocks(&facts);
        for (process, clock) in self.list.iter_mut().zip(indices) {
            process.clock = clock;
        }
    }
}

impl OutputProcess {
    fn new(recording: RecordingFile) -> Self {
        Self {
            pid: 0,
            own_pid: recording.pid,
            mark: None,
            start_us: recording.start_us,
            url: String::new(),
            program: recording.program.clone(),
            threads: BTreeMap::from([(recording.tid, vec![recording])]),
            clock: 0,
        }
    }

    fn add(&mut self, recording: RecordingFile) {
        self.start_us = self.start_us.min(recording.start_us);
        let thread = self.threads.entry(recording.tid).or_default();
        let at = thread.partition_point(|other| other.start_us <= recording.start_us);
        thread.insert(at, recording);
    }

    /// Returns the facts that tell the clock of the process.
    pub(crate) fn clock_facts(&self) -> ClockFacts {
        let (start_us, end_us) = self.span_us();
        let mut facts = ClockFacts { boot: None, start_us, end_us, recordings: 0 };
        for recording in self.recordings() {
            facts.join(recording.clock_facts(recording.known_end_us()));
        }
        facts
    }

    /// Returns the start and the end of the recordings, as far as the files tell without a full
    /// reading: microseconds.
    pub(crate) fn span_us(&self) -> (i64, i64) {
        let end_us = self.recordings().map(RecordingFile::known_end_us).max();
        (self.start_us, end_us.unwrap_or(self.start_us))
    }

    /// Returns the recordings of all threads.
    pub(crate) fn recordings(&self) -> impl Iterator<Item = &RecordingFile> {
        self.threads.values().flatten()
    }

    /// Returns how the process ended: unknown if the recording of its main thread was not
    /// completed. Returns None if the main thread was not recorded, or was stopped in code.
    pub(crate) fn ending(&self) -> Option<ProcessEnding> {
        let last = self.threads.get(&0)?.last()?;
        match &last.ending {
            Some(ending) if !ending.is_known() => None,
            Some(ending) => Some(ending.clone()),
            None if last.is_cpuprofile => None,
            None => Some(ProcessEnding::default()),
        }
    }

    /// Sets the label and the facts: those of the main thread if it was recorded.
    fn label(&mut self, inputs: &[Input]) {
        let traced = self.recordings().find(|recording| !recording.program.is_empty());
        if let Some(program) = traced.map(|traced| traced.program.clone()) {
            self.program = program;
        }
        let url = self.recordings().find_map(|recording| recording.url.clone());
        self.url = url.unwrap_or_else(|| {
            let path = self.recordings().next().map(|first| inputs[first.input].path.as_path());
            self.program_from_name(path.unwrap_or(Path::new(""))).url_label()
        });
        if let Some(mark) = &self.mark {
            self.url.push_str(mark);
        }
    }

    /// Returns the working directory, if the recordings tell it.
    pub(crate) fn cwd(&self) -> Option<String> {
        self.program.get("cwd").and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns the short label of the process, with its mark: `nx (pid 4242)`. `path` is that of one
    /// of its recordings.
    pub(crate) fn short_label(&self, path: &Path) -> String {
        let fact = |key: &str| self.program.get(key);
        let name = fact("processName").and_then(Value::as_str).map(str::to_owned);
        let argv = fact("argv").and_then(|argv| serde_json::from_value(argv.clone()).ok());
        let label = name.unwrap_or_else(|| {
            let pid = self.own_pid.unwrap_or(Program::UNKNOWN_PID);
            let traced = argv.map(|argv| Program { pid, argv, ..Program::default() });
            traced.unwrap_or_else(|| self.program_from_name(path)).short_label()
        });
        format!("{label}{}", self.mark.as_deref().unwrap_or_default())
    }

    /// Returns a program for a process that only a file's name tells of.
    fn program_from_name(&self, path: &Path) -> Program {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let argv = match ids_from_file_name(&file) {
            Some(_) => Vec::new(),
            None => vec![String::new(), file.into_owned()],
        };
        Program { pid: self.own_pid.unwrap_or(Program::UNKNOWN_PID), argv, ..Program::default() }
    }
}
