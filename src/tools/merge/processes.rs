//! Which recordings are of one process, and what each process is called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value};

use crate::files::input::Input;
use crate::format::cpuprofile::read::ids_from_file_name;
use crate::profile::program::Program;
use crate::read::sniff::{RecordingFile, end_us};

/// A process and its threads' recordings.
#[derive(Debug)]
pub(super) struct OutputProcess {
    /// Its id in the trace.
    pub pid: u32,
    /// Its own id, where it is known; another process in the trace may have the same.
    pub own_pid: Option<u32>,
    /// What is put to its labels where another process has the same id.
    pub mark: Option<String>,
    /// Its first recording's start, microseconds.
    pub start_us: i64,
    /// How DevTools shall call it.
    pub url: String,
    /// What is known of it.
    pub program: Map<String, Value>,
    /// Each thread's recordings in the order of their starts.
    pub threads: BTreeMap<u32, Vec<RecordingFile>>,
    /// Which clock its times are of: 0 for the one of most recordings.
    pub clock: usize,
}

/// All processes that were recorded, in the order of their starts.
#[derive(Debug, Default)]
pub(super) struct OutputProcesses {
    /// In the order of their starts.
    pub list: Vec<OutputProcess>,
    /// Pids in the trace.
    pub pids: BTreeSet<u32>,
    /// Recordings that are there twice: the inputs left out.
    pub doubles: Vec<usize>,
}

/// Pids that no system gives.
const FREE_PIDS: u32 = 10_000_000;

/// Times this far apart are of two clocks, where nothing else is known: a day in microseconds.
const FAR_US: i64 = 86_400_000_000;

impl OutputProcesses {
    /// Sorts recordings into processes.
    pub(super) fn of(mut recordings: Vec<RecordingFile>, inputs: &[Input]) -> Self {
        // What tells most comes first, so that a .cpuprofile finds its process and its double.
        recordings.sort_by_key(|recording| (recording.is_cpuprofile, recording.start_us));
        let mut found = Self::default();
        for recording in recordings {
            let (pid, tid) = (recording.pid, recording.tid);
            let may_be = |process: &OutputProcess| {
                pid.is_some() && process.own_pid == pid && is_same_process(process, &recording)
            };
            let of_thread = |process: &OutputProcess, is: &dyn Fn(&RecordingFile) -> bool| {
                process.threads.get(&tid).is_some_and(|thread| thread.iter().any(is))
            };
            let is_double = |process: &OutputProcess| {
                of_thread(process, &|other| other.start_us == recording.start_us)
            };
            if found.list.iter().any(|process| may_be(process) && is_double(process)) {
                found.doubles.push(recording.input);
                continue;
            }
            let overlaps = |process: &OutputProcess| {
                of_thread(process, &|other| overlap(other, &recording, inputs))
            };
            let is_home = |process: &OutputProcess| {
                may_be(process) && (is_known(process, &recording) || !overlaps(process))
            };
            match found.list.iter().position(is_home) {
                Some(at) => found.list[at].add(recording),
                None => found.list.push(OutputProcess::new(recording)),
            }
        }
        found.tell_clocks();
        found.list.sort_by_key(|process| (process.clock, process.start_us));
        found.number();
        for process in &mut found.list {
            process.label(inputs);
        }
        found
    }

    /// Gives a pid that is free: this one if it is.
    pub(super) fn take_pid(&mut self, pid: u32) -> u32 {
        if self.pids.insert(pid) {
            return pid;
        }
        let last = self.pids.last().copied().unwrap_or_default();
        let free = last.saturating_add(1).max(FREE_PIDS);
        self.pids.insert(free);
        free
    }

    fn number(&mut self) {
        let mut times: BTreeMap<u32, u32> = BTreeMap::new();
        let mut list = std::mem::take(&mut self.list);
        // Those that keep their own go first.
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

    /// Groups what has one clock: by what the system calls its start, else by nearness in time.
    fn tell_clocks(&mut self) {
        struct ClockGroup {
            boot: Option<Value>,
            range: (i64, i64),
            recordings: usize,
            members: Vec<usize>,
        }
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|at| self.list[*at].start_us);
        // Those of a known clock first: what knows none may belong to it.
        order.sort_by_key(|at| !self.list[*at].program.contains_key("boot"));
        let mut clocks: Vec<ClockGroup> = Vec::new();
        for at in order {
            let process = &self.list[at];
            let (start, boot) = (process.start_us, process.program.get("boot"));
            let found = clocks.iter_mut().find(|clock| match (&clock.boot, boot) {
                (Some(ours), Some(its)) => ours == its,
                _ => (clock.range.0 - FAR_US..=clock.range.1 + FAR_US).contains(&start),
            });
            let recordings = process.threads.values().map(Vec::len).sum::<usize>();
            match found {
                Some(clock) => {
                    clock.range = (clock.range.0.min(start), clock.range.1.max(start));
                    clock.recordings += recordings;
                    clock.members.push(at);
                }
                None => clocks.push(ClockGroup {
                    boot: boot.cloned(),
                    range: (start, start),
                    recordings,
                    members: vec![at],
                }),
            }
        }
        clocks.sort_by_key(|clock| std::cmp::Reverse(clock.recordings));
        for (number, clock) in clocks.iter().enumerate() {
            for at in &clock.members {
                self.list[*at].clock = number;
            }
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

    /// Its name, by its main thread if that was recorded.
    fn label(&mut self, inputs: &[Input]) {
        let recordings = || self.threads.values().flatten();
        let main = recordings().find(|recording| !recording.program.is_empty());
        if let Some(main) = main {
            self.program = main.program.clone();
        }
        let url = recordings().find_map(|recording| recording.url.clone());
        self.url = match (url, recordings().next()) {
            (Some(url), _) => url,
            (None, first) => {
                let path = first.map(|first| inputs[first.input].path.as_path());
                self.made_up(path.unwrap_or(Path::new(""))).url_label()
            }
        };
        if let Some(mark) = &self.mark {
            self.url.push_str(mark);
        }
    }

    /// A program for a process of which only a file's name is known.
    pub(super) fn made_up(&self, path: &Path) -> Program {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let argv = match ids_from_file_name(&file) {
            (Some(_), "node") => Vec::new(),
            (Some(_), name) => vec![String::new(), name.to_owned()],
            (None, _) => vec![String::new(), file.into_owned()],
        };
        Program { pid: self.own_pid.unwrap_or(self.pid), argv, ..Program::default() }
    }
}

fn is_same_process(process: &OutputProcess, recording: &RecordingFile) -> bool {
    let same = |key: &str| match (process.program.get(key), recording.program.get(key)) {
        (Some(ours), Some(its)) => ours == its,
        _ => true,
    };
    same("processStartMs") && same("boot") && same("node") && same("argv")
}

/// Whether there is no doubt.
fn is_known(process: &OutputProcess, recording: &RecordingFile) -> bool {
    let key = "processStartMs";
    process.program.contains_key(key) && recording.program.contains_key(key)
}

/// Whether two recordings are of the same time, so that they cannot be of one thread.
fn overlap(one: &RecordingFile, other: &RecordingFile, inputs: &[Input]) -> bool {
    let (first, second) = if one.start_us <= other.start_us { (one, other) } else { (other, one) };
    let end = first.end_us.or_else(|| end_us(&inputs[first.input]));
    end.is_some_and(|end_us| end_us > second.start_us)
}
