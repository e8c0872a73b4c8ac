//! The recorded processes of a merge: their recordings, pids and labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::chosen_threads::{ChosenThreads, InputProcess};
use super::taken_pids::{FREE_PIDS, TakenPids};
use crate::read::group::{ClockFacts, Placement, find_clocks, group};
use crate::read::pprof::beside::RecordedTime;
use crate::read::sniff::RecordingFile;
use crate::read::time_line::is_far;
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::files::input::Input;
use cpu_prof_core::format::trace::process_label::as_primary;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::program::Program;
use cpu_prof_core::profile::wall_time;
use cpu_prof_session::formats::cpuprofile::file_name::ids_from_file_name;

/// A process with the recordings of its threads.
#[derive(Debug)]
pub struct RecordedProcess {
    /// Pid in the trace.
    pub pid: u32,
    /// Pid at the time of the recording, if known. Several processes can have had the same.
    pub recorded_pid: Option<u32>,
    /// Mark at the end of the label where another process has the same pid: ` #2`.
    pub mark: Option<String>,
    /// Start of the first recording, microseconds.
    pub start_us: i64,
    /// Label for DevTools, in the form of a URL.
    pub label: String,
    /// Facts from the headers of the recordings.
    pub program: Map<String, Value>,
    /// Recordings by thread id, in the order of their starts.
    pub threads: BTreeMap<u32, Vec<RecordingFile>>,
    /// Index of the clock; 0 is the clock of most recordings.
    pub clock: usize,
}

/// All recorded processes.
#[derive(Debug)]
pub struct RecordedProcesses {
    /// Processes in the order of their clocks, then of their starts.
    pub list: Vec<RecordedProcess>,
    /// Inputs that are left out, because other inputs hold their recordings.
    pub duplicates: Vec<usize>,
    /// Start and end of each process's recordings, microseconds; also of those that are not chosen.
    spans_us: Vec<(i64, i64)>,
}

impl RecordedProcesses {
    /// Sorts recordings into processes, and takes a pid for each.
    pub fn of(recordings: Vec<RecordingFile>, files: &[Input], pids: &mut TakenPids) -> Self {
        let with_facts = recordings.into_iter().map(|recording| {
            let facts = recording.facts();
            (recording, facts)
        });
        let mut list: Vec<RecordedProcess> = Vec::new();
        let mut duplicates = Vec::new();
        for (recording, placement) in group(with_facts) {
            match placement {
                Placement::Duplicate => duplicates.push(recording.input),
                Placement::Known(index) => list[index].add(recording),
                Placement::New => list.push(RecordedProcess::new(recording)),
            }
        }
        set_clocks(&mut list);
        list.cold_sort_by_key(|process| (process.clock, process.start_us, process.recorded_pid));
        set_pids(&mut list, pids);
        list.iter_mut().for_each(|process| process.set_label(files));
        name_primaries(&mut list);
        let spans_us = list.iter().map(RecordedProcess::span_us).collect();
        Self { list, duplicates, spans_us }
    }

    /// Removes threads that are not chosen.
    pub(super) fn limit(&mut self, chosen: &ChosenThreads) {
        let mut indices = 0..;
        self.list.retain_mut(|process| {
            let key = InputProcess::Recorded(indices.next().unwrap_or_default());
            process.threads.retain(|tid, _| chosen.keeps_thread(key.clone(), *tid));
            !process.threads.is_empty()
        });
    }

    /// Returns the time of the recordings of the first clock; none if they do not tell the time of day.
    pub(super) fn time(&self) -> Option<RecordedTime> {
        let of_clock = || self.list.iter().filter(|process| process.clock == 0);
        let mut recordings = of_clock().flat_map(RecordedProcess::recordings);
        let wall_zero_us = recordings.find_map(|recording| {
            let start = recording.program.get("startTime").and_then(Value::as_str)?;
            wall_time::from_iso(start)?.checked_sub(recording.start_us)
        })?;
        let start_us = of_clock().map(|process| process.start_us).min()?;
        let end_us = of_clock().map(|process| process.span_us().1).max()?;
        let boot = of_clock().find_map(|process| process.clock_facts().boot);
        Some(RecordedTime { boot, wall_zero_us, start_us, end_us })
    }

    /// Returns whether a time is far from all recordings.
    pub(super) fn are_far_from(&self, ts: i64) -> bool {
        is_far(ts, &self.spans_us)
    }
}

/// Names the processes that have started others by `node:cluster`: only the others tell.
fn name_primaries(list: &mut [RecordedProcess]) {
    let number = |process: &RecordedProcess, key: &str| process.program.get(key)?.as_u64();
    let primary = |process: &RecordedProcess| {
        number(process, "clusterWorker")?;
        Some((number(process, "ppid")?, process.clock))
    };
    let primaries: BTreeSet<(u64, usize)> = list.iter().filter_map(primary).collect();
    for process in list {
        let pid = process.recorded_pid.map_or(0, u64::from);
        if pid > 0 && primaries.contains(&(pid, process.clock)) {
            process.label = as_primary(&process.label);
        }
    }
}

fn set_clocks(list: &mut [RecordedProcess]) {
    let facts: Vec<_> = list.iter().map(RecordedProcess::clock_facts).collect();
    let (_, indices) = find_clocks(&facts);
    for (process, clock) in list.iter_mut().zip(indices) {
        process.clock = clock;
    }
}

/// Gives each process a pid in the trace. Processes that keep their pids come first.
fn set_pids(list: &mut [RecordedProcess], pids: &mut TakenPids) {
    let mut times: BTreeMap<u32, u32> = BTreeMap::new();
    for process in &mut *list {
        if let Some(pid) = process.recorded_pid {
            let time = times.entry(pid).or_default();
            *time += 1;
            match time {
                1 => process.pid = pids.take(pid),
                time => process.mark = Some(format!(" #{time}")),
            }
        }
    }
    for process in list.iter_mut().filter(|process| process.pid == 0) {
        process.pid = pids.take(process.recorded_pid.unwrap_or(FREE_PIDS));
    }
}

impl RecordedProcess {
    fn new(recording: RecordingFile) -> Self {
        Self {
            pid: 0,
            recorded_pid: recording.pid,
            mark: None,
            start_us: recording.start_us,
            label: String::new(),
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
        let mut facts = ClockFacts {
            boot: None,
            start_us,
            end_us,
            wall_zero_us: None,
            recordings: 0,
            trace: None,
        };
        for recording in self.recordings() {
            facts.join(recording.clock_facts(recording.known_end_us()));
        }
        facts
    }

    /// Returns the start and the end of the recordings, as far as the files tell without a full
    /// reading: microseconds.
    pub fn span_us(&self) -> (i64, i64) {
        let end_us = self.recordings().map(RecordingFile::known_end_us).max();
        (self.start_us, end_us.unwrap_or(self.start_us))
    }

    /// Returns the recordings of all threads.
    pub fn recordings(&self) -> impl Iterator<Item = &RecordingFile> {
        self.threads.values().flatten()
    }

    /// Returns how the process ended: unknown if the recording of its main thread was not
    /// completed. Returns None if the main thread was not recorded, or was stopped in code.
    pub fn ending(&self) -> Option<ProcessEnding> {
        let last = self.threads.get(&0)?.last()?;
        match &last.ending {
            Some(ending) if !ending.is_known() => None,
            Some(ending) => Some(ending.clone()),
            None if last.is_cpuprofile => None,
            None => Some(ProcessEnding::default()),
        }
    }

    /// Sets the label and the facts: those of the main thread if it was recorded.
    fn set_label(&mut self, files: &[Input]) {
        let traced = self.recordings().find(|recording| !recording.program.is_empty());
        if let Some(program) = traced.map(|traced| traced.program.clone()) {
            self.program = program;
        }
        self.set_start_time();
        let label = self.recordings().find_map(|recording| recording.url.clone());
        self.label = label.unwrap_or_else(|| {
            let path = self.recordings().next().map(|first| files[first.input].path.as_path());
            self.program_from_name(path.unwrap_or(Path::new(""))).url_label()
        });
        if let Some(mark) = &self.mark {
            self.label.push_str(mark);
        }
    }

    /// Sets the wall time at the start of the first recording, which the facts need not be of.
    fn set_start_time(&mut self) {
        let known = self.recordings().filter_map(|recording| {
            let wall_us = wall_time::from_iso(recording.program.get("startTime")?.as_str()?)?;
            let before_us = recording.start_us.checked_sub(self.start_us)?;
            Some((before_us, wall_us.checked_sub(before_us)?))
        });
        let (_, wall_us) = known.min().unzip();
        match wall_us.and_then(wall_time::to_iso) {
            Some(text) => self.program.insert("startTime".into(), text.into()),
            None => self.program.remove("startTime"),
        };
    }

    /// Returns the pid at the time of the recording, or the pid that stands for an unknown one.
    pub(crate) fn known_pid(&self) -> u32 {
        self.recorded_pid.unwrap_or(Program::UNKNOWN_PID)
    }

    /// Returns the working directory, if the recordings tell it.
    pub fn cwd(&self) -> Option<String> {
        self.program.get("cwd").and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns the short label of the process, with its mark: `nx (pid 4242)`. `path` is that of one
    /// of its recordings.
    pub fn short_label(&self, path: &Path) -> String {
        let fact = |key: &str| self.program.get(key);
        let name = fact("processName").and_then(Value::as_str).map(str::to_owned);
        let argv = fact("argv").and_then(|argv| serde_json::from_value(argv.clone()).ok());
        let label = name.unwrap_or_else(|| {
            let pid = self.known_pid();
            let traced = argv.map(|argv| Program { pid, argv, ..Program::default() });
            traced.unwrap_or_else(|| self.program_from_name(path)).short_label()
        });
        format!("{label}{}", self.mark.as_deref().unwrap_or_default())
    }

    /// Returns a program for a process that only a file's name tells of.
    fn program_from_name(&self, path: &Path) -> Program {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let script = ids_from_file_name(&file).is_none().then(|| file.into_owned());
        program_of_script(self.known_pid(), script)
    }
}

/// Returns a program of which only the name of its script is known, or nothing.
pub(crate) fn program_of_script(pid: u32, script: Option<String>) -> Program {
    let argv = script.map_or_else(Vec::new, |script| vec![String::new(), script]);
    Program { pid, argv, ..Program::default() }
}
