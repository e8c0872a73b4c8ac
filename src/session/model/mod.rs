//! Sessions: the processes, threads and recordings that were read back from one or many files.

pub mod builder;
pub mod compilation;
pub mod frame_table;
mod line_times;
pub mod lists;
pub mod native;
mod node_indices;
pub mod order;
pub mod series;
pub mod series_builder;
pub mod thinner;
pub mod thread_profile;

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use self::frame_table::FrameTable;
use crate::model::thread_profile::ThreadProfile;
use cpu_prof_core::base::native_thread::os_id;
use cpu_prof_core::base::settings::start::StartReason;
use cpu_prof_core::profile::cpu_use::UnrecordedPrograms;
use cpu_prof_core::profile::ending::ProcessEnding;
use cpu_prof_core::profile::label::{labelled, pid_mark};
use cpu_prof_core::profile::label_table::LabelTable;
use cpu_prof_core::profile::met_condition::MetCondition;

/// The contents of all files that were read.
#[derive(Debug, Default)]
pub struct Session {
    /// Call frames of all profiles.
    pub frames: FrameTable,
    /// Label sets of all profiles.
    pub labels: LabelTable,
    /// Processes in the order of their clocks, then of their starts.
    pub processes: Vec<Process>,
    /// Clocks of the processes, that of most recordings first.
    pub clocks: Vec<Clock>,
    /// JSON of the source maps of scripts that are in no file.
    pub script_maps: FxHashMap<ScriptKey, String>,
}

/// A script: two processes that run the same program mostly give a file the same id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScriptKey {
    /// V8's name of the script, as in frames.
    pub url: String,
    /// V8's id of the script within its isolate.
    pub script_id: u32,
}

/// A process.
#[derive(Debug, Default)]
pub struct Process {
    /// Process id at the time of the recording; 0 if the id is not known. Two processes can have
    /// had the same id.
    pub pid: i64,
    /// Name: `tsc`.
    pub name: String,
    /// Name with the arguments, shortened: `tsc -p .`.
    pub command: String,
    /// Label of the process in the trace, without the pid: `tsc: -p .`. Without a label, `name` and
    /// `command` are guesses from the file's name.
    pub url_label: Option<String>,
    /// Working directory.
    pub cwd: Option<String>,
    /// Pid of the parent process.
    pub parent_pid: Option<i64>,
    /// Pids of the parent process, of its parent and so on; empty if they are not known.
    pub ancestors: Vec<i64>,
    /// `process.version`
    pub node: Option<String>,
    /// How the process ended, as far as the recording or its parent knows.
    pub ending: Option<ProcessEnding>,
    /// Start of the process and of the system.
    pub identity: Option<Identity>,
    /// `cluster.worker.id`, of a process that `node:cluster` has started.
    pub cluster_worker: Option<u32>,
    /// Conditions that were met while the process ran, with their times, microseconds.
    pub met_conditions: Vec<(i64, MetCondition)>,
    /// Programs under the process that have no recording, if somebody looked at the processes of the run.
    pub unrecorded: Option<UnrecordedPrograms>,
    /// Threads, each id once.
    pub threads: Vec<Thread>,
    /// Index into [`Session::clocks`].
    pub clock: usize,
    /// Number of the other tool's trace that the process is in; none for a process of another file.
    pub trace: Option<usize>,
    /// Wall time of microsecond 0 of the process's clock: microseconds after 1970; none if no file
    /// tells.
    pub wall_zero_us: Option<i64>,
    /// Time between two samples, microseconds; none if no file tells.
    pub interval_us: Option<i64>,
    /// Whether in all recordings V8 was shown the frames that code had not made.
    pub finds_leaves: bool,
}

/// A thread.
#[derive(Debug, Default)]
pub struct Thread {
    /// Node's thread id, or the system's id in traces of other tools.
    pub id: i64,
    /// Name within the process: `main`.
    pub name: String,
    /// Label that all recordings of the thread have.
    pub recording_label: Option<String>,
    /// Why all recordings of the thread started, if not with the program.
    pub start: Option<StartReason>,
    /// Recordings in the order of their starts; not empty.
    pub profiles: Vec<ThreadProfile>,
}

/// The facts that identify a process, whatever its pid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Start of the process: milliseconds after the system's start; after 1970 on macOS.
    pub process_start_ms: u64,
    /// Id of the system's start.
    pub boot: String,
    /// Random text that all recordings of the process have; none in older files.
    pub key: Option<String>,
    /// Number of the namespace that the pid is from; none in older files.
    pub pid_namespace: Option<u64>,
}

/// The span of all recordings whose times come from one clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock {
    /// Id of the system's start, if the recordings give one.
    pub boot: Option<String>,
    /// First start of a recording, microseconds.
    pub start_us: i64,
    /// Last end of a recording, microseconds.
    pub end_us: i64,
    /// Wall time of microsecond 0: microseconds after 1970; none if no file tells. Files tell
    /// milliseconds.
    pub wall_zero_us: Option<i64>,
}

impl Clock {
    /// Returns the wall time of a moment: microseconds after 1970; none if no file tells.
    pub fn wall_us(&self, at_us: i64) -> Option<i64> {
        Some(self.wall_zero_us?.saturating_add(at_us))
    }
}

impl Identity {
    /// Returns whether both are those of one process.
    pub fn is_of_same_process(&self, other: &Self) -> bool {
        match (&self.key, &other.key) {
            (Some(key), Some(other)) => key == other,
            _ => (self.process_start_ms, &self.boot) == (other.process_start_ms, &other.boot),
        }
    }
}

/// The time between two samples where no file tells one, microseconds.
const USUAL_INTERVAL_US: i64 = 1000;

impl Session {
    /// Returns the time between two samples, microseconds: that of the first process that tells one.
    pub fn interval_us(&self) -> i64 {
        let told = self.processes.iter().find_map(|process| process.interval_us);
        told.unwrap_or(USUAL_INTERVAL_US)
    }

    /// Returns the length of the longest clock's span: microseconds.
    pub fn length_us(&self) -> i64 {
        let lengths = self.clocks.iter().map(|clock| clock.end_us.saturating_sub(clock.start_us));
        lengths.max().unwrap_or(0)
    }

    /// Returns the clock that a process's times come from.
    pub fn clock(&self, process: &Process) -> &Clock {
        &self.clocks[process.clock]
    }

    /// Removes profiles without time, then threads and processes without profiles.
    pub fn drop_empty(&mut self) {
        for process in &mut self.processes {
            for thread in &mut process.threads {
                thread.profiles.retain(|profile| profile.start_us < profile.end_us);
            }
            process.threads.retain(|thread| !thread.profiles.is_empty());
        }
        self.processes.retain(|process| !process.threads.is_empty());
    }
}

impl Process {
    /// Returns the first start of a recording: microseconds.
    pub fn start_us(&self) -> i64 {
        self.threads.iter().map(Thread::start_us).min().unwrap_or(0)
    }

    /// Returns the last end of a recording: microseconds.
    pub fn end_us(&self) -> i64 {
        self.threads.iter().map(Thread::end_us).max().unwrap_or(0)
    }

    /// Returns `tsc (pid 4242)`.
    pub fn label(&self) -> String {
        format!("{} {}", self.name, pid_mark(self.pid))
    }

    /// Returns the first start and the last end of a recording, even if the times were outside of the
    /// slice that was read: microseconds.
    pub fn recorded_us(&self) -> (i64, i64) {
        let profiles = || self.threads.iter().flat_map(|thread| &thread.profiles);
        let start_us = profiles().map(|profile| profile.recorded_us.0).min();
        let end_us = profiles().map(|profile| profile.recorded_us.1).max();
        (start_us.unwrap_or(0), end_us.unwrap_or(0))
    }

    /// Returns the count of recordings.
    pub fn recordings(&self) -> usize {
        self.threads.iter().map(|thread| thread.profiles.len()).sum()
    }

    /// Adds the contents of another file of this process. A recording in both counts once.
    pub fn join(&mut self, other: Self) {
        if self.url_label.is_none() && other.url_label.is_some() {
            (self.name, self.command) = (other.name, other.command);
            self.url_label = other.url_label;
        }
        self.identity = self.identity.take().or(other.identity);
        self.node = self.node.take().or(other.node);
        self.ending = self.ending.take().or(other.ending);
        self.cwd = self.cwd.take().or(other.cwd);
        self.wall_zero_us = self.wall_zero_us.or(other.wall_zero_us);
        self.interval_us = self.interval_us.or(other.interval_us);
        self.finds_leaves &= other.finds_leaves;
        self.parent_pid = self.parent_pid.or(other.parent_pid);
        self.cluster_worker = self.cluster_worker.or(other.cluster_worker);
        self.unrecorded = self.unrecorded.or(other.unrecorded);
        if self.ancestors.is_empty() {
            self.ancestors = other.ancestors;
        }
        for met in other.met_conditions {
            if !self.met_conditions.contains(&met) {
                self.met_conditions.push(met);
            }
        }
        for thread in other.threads {
            match self.threads.iter_mut().find(|known| known.id == thread.id) {
                Some(known) => known.join(thread),
                None => self.threads.push(thread),
            }
        }
    }
}

impl Thread {
    /// Adds the recordings of the same thread in another file.
    fn join(&mut self, other: Self) {
        for profile in other.profiles {
            let is_same = |known: &ThreadProfile| known.recorded_us.0 == profile.recorded_us.0;
            if self.profiles.iter().any(is_same) {
                continue;
            }
            if self.recording_label != other.recording_label {
                self.recording_label = None;
            }
            if self.start != other.start {
                self.start = None;
            }
            self.profiles.push(profile);
        }
    }

    /// Returns the name, with the label if there is one: `main: big file`.
    pub fn full_name(&self) -> Cow<'_, str> {
        match &self.recording_label {
            Some(label) => labelled(&self.name, label).into(),
            None => self.name.as_str().into(),
        }
    }

    /// Returns the first start of a recording: microseconds.
    pub fn start_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.start_us).min().unwrap_or(0)
    }

    /// Returns the last end of a recording: microseconds.
    pub fn end_us(&self) -> i64 {
        self.profiles.iter().map(|profile| profile.end_us).max().unwrap_or(0)
    }

    /// Returns whether the thread runs no JavaScript, and was sampled beside those that do.
    pub fn is_native(&self) -> bool {
        self.native_name().is_some()
    }

    /// Returns the name of a thread that runs no JavaScript, without its id; none for other threads.
    pub fn native_name(&self) -> Option<&str> {
        let id = os_id(self.id)?;
        // Other tools have large ids too.
        self.name.strip_suffix(&format!(" ({id})"))
    }

    /// Returns whether the thread is the main thread of its process.
    pub fn is_main(&self) -> bool {
        self.id == 0 || self.name == "CrRendererMain"
    }
}
