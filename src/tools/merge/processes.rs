//! The recorded processes of a merge: their recordings, pids and labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::input::Input;
use crate::format::cpuprofile::file_name::ids_from_file_name;
use crate::profile::program::Program;
use crate::read::group::{ClockFacts, Placement, ProcessGroups, find_clocks};
use crate::read::sniff::RecordingFile;

/// A process with the recordings of its threads.
#[derive(Debug)]
pub(super) struct OutputProcess {
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
#[derive(Debug, Default)]
pub(super) struct OutputProcesses {
    /// Processes in the order of their clocks, then of their starts.
    pub list: Vec<OutputProcess>,
    /// Pids in the trace.
    pub pids: BTreeSet<u32>,
    /// Inputs that are left out, because other inputs hold their recordings.
    pub duplicates: Vec<usize>,
}

/// First of the pids that no system assigns.
const FREE_PIDS: u32 = 10_000_000;

impl OutputProcesses {
    /// Sorts recordings into processes.
    pub(super) fn of(mut recordings: Vec<RecordingFile>, inputs: &[Input]) -> Self {
        // Traces know more of a process than a `.cpuprofile` does.
        recordings.sort_by_key(|recording| (recording.is_cpuprofile, recording.start_us));
        let mut groups = ProcessGroups::default();
        let mut found = Self::default();
        for recording in recordings {
            match groups.place(recording.facts()) {
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
        found
    }

    /// Returns this pid if it is free in the trace, else another one.
    pub(super) fn take_pid(&mut self, pid: u32) -> u32 {
        if self.pids.insert(pid) {
            return pid;
        }
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

    fn clock_facts(&self) -> ClockFacts {
        let recordings = || self.threads.values().flatten();
        let ends = recordings().map(|recording| recording.end_us.unwrap_or(recording.start_us));
        ClockFacts {
            boot: recordings().find_map(|recording| Some(recording.identity()?.boot)),
            start_us: self.start_us,
            end_us: ends.max().unwrap_or(self.start_us),
            recordings: recordings().count(),
        }
    }

    /// Sets the label and the facts: those of the main thread if it was recorded.
    fn label(&mut self, inputs: &[Input]) {
        let recordings = || self.threads.values().flatten();
        let traced = recordings().find(|recording| !recording.program.is_empty());
        if let Some(traced) = traced {
            self.program = traced.program.clone();
        }
        let url = recordings().find_map(|recording| recording.url.clone());
        self.url = match (url, recordings().next()) {
            (Some(url), _) => url,
            (None, first) => {
                let path = first.map(|first| inputs[first.input].path.as_path());
                self.program_from_name(path.unwrap_or(Path::new(""))).url_label()
            }
        };
        if let Some(mark) = &self.mark {
            self.url.push_str(mark);
        }
    }

    /// Returns a program for a process that only a file's name tells of.
    pub(super) fn program_from_name(&self, path: &Path) -> Program {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let argv = match ids_from_file_name(&file) {
            (Some(_), "node") => Vec::new(),
            (Some(_), name) => vec![String::new(), name.to_owned()],
            (None, _) => vec![String::new(), file.into_owned()],
        };
        Program { pid: self.own_pid.unwrap_or(self.pid), argv, ..Program::default() }
    }
}
