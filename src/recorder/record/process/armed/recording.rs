//! One recording of all armed threads: its request, its state, its result.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use crate::record::files::totals::RecordingTotals;
use cpu_prof_core::base::settings::config::Config;
use cpu_prof_core::base::settings::start::StartReason;

/// A request to record all armed threads.
#[derive(Debug)]
pub(crate) struct ProcessStart {
    /// Settings.
    pub config: Config,
    /// Why the recording starts.
    pub reason: StartReason,
    /// Time after which the recording ends by itself.
    pub for_: Option<Duration>,
}

/// Why a recording of all threads did not start or stop.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A recording runs already.
    Busy(RunningRecording),
    /// No recording runs.
    Idle,
    /// No thread could start, for this reason.
    Unavailable(String),
}

/// A recording of all threads that runs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunningRecording {
    /// Start, Unix milliseconds.
    pub since_ms: u64,
    /// Why it started.
    #[serde(flatten)]
    pub reason: StartReason,
    /// Time after which it ends by itself, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_ms: Option<u64>,
    /// Number of threads that are being recorded.
    pub threads: usize,
    /// Absolute paths of the files so far.
    pub files: Vec<PathBuf>,
}

/// A recording of all threads that has ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoppedProcess {
    /// Absolute paths of the files.
    pub files: Vec<PathBuf>,
    /// Number of samples in the complete files.
    pub samples: u64,
    /// Time from start to end, milliseconds.
    pub duration_ms: u64,
    /// Number of threads that are blocked in native code, whose files end later.
    pub unreached: usize,
    /// Why the recording started.
    #[serde(flatten)]
    pub reason: StartReason,
    /// End, Unix milliseconds.
    pub ended_ms: u64,
}

/// The state of a recording of all threads.
pub(super) struct ProcessRecording {
    /// Id, unique among all recordings.
    pub(super) id: u32,
    /// Request.
    pub(super) request: Arc<ProcessStart>,
    since: Instant,
    since_ms: u64,
    /// Numbers of the threads that were asked to start and have not answered.
    asked: HashSet<u32>,
    /// Number of threads that are starting.
    starting: usize,
    /// Files of the threads that are being recorded, by the ids of their recordings.
    running: HashMap<u32, Vec<PathBuf>>,
    /// What the threads have recorded that have stopped.
    stopped: RecordingTotals,
    /// Why the last thread that failed did not start.
    failure: Option<String>,
    /// Whether no thread starts any more.
    pub(super) is_stopping: bool,
}

impl ProcessRecording {
    /// Returns a recording that begins now. `asked` are the numbers of the threads that are asked to start.
    pub(super) fn new(id: u32, request: ProcessStart, asked: HashSet<u32>) -> Self {
        Self {
            id,
            request: Arc::new(request),
            since: Instant::now(),
            since_ms: unix_ms(),
            asked,
            starting: 0,
            running: HashMap::new(),
            stopped: RecordingTotals::default(),
            failure: None,
            is_stopping: false,
        }
    }

    /// Notes that a thread has answered: it begins to start, or will not.
    pub(super) fn has_answered(&mut self, thread: u32) {
        self.asked.remove(&thread);
    }

    /// Notes that a thread begins to start.
    pub(super) fn begin_start(&mut self) {
        self.starting += 1;
    }

    /// Notes that a thread which began to start is not recorded.
    pub(super) fn end_start(&mut self, failure: Option<String>) {
        self.starting -= 1;
        self.failure = failure.or(self.failure.take());
    }

    /// Notes that a thread which began to start is recorded in these files.
    pub(super) fn joined(&mut self, recording: u32, files: Vec<PathBuf>) {
        self.starting -= 1;
        self.running.insert(recording, files);
    }

    /// Notes that the recording of a thread has ended.
    pub(super) fn left(&mut self, recording: u32, totals: &RecordingTotals) {
        if self.running.remove(&recording).is_some() {
            self.stopped.add(totals.clone());
        }
    }

    /// Returns whether a thread has not answered yet, or is starting.
    pub(super) fn is_starting(&self) -> bool {
        !self.is_stopping && (self.starting > 0 || !self.asked.is_empty())
    }

    /// Returns whether the recording is being stopped, and no thread is left in it.
    pub(super) fn is_over(&self) -> bool {
        self.is_stopping && self.starting == 0 && self.running.is_empty()
    }

    /// Returns why no thread is or was recorded; none if one was, or may be.
    pub(super) fn failure(&self) -> Option<&str> {
        let is_empty = !self.is_starting() && self.files().is_empty();
        self.failure.as_deref().filter(|_| is_empty)
    }

    /// Returns what a user is told.
    pub(super) fn describe(&self) -> RunningRecording {
        RunningRecording {
            since_ms: self.since_ms,
            reason: self.request.reason.clone(),
            for_ms: self.request.for_.map(|time| time.as_millis() as u64),
            threads: self.running.len(),
            files: self.files(),
        }
    }

    /// Returns the result. The threads that are left were not reached.
    pub(super) fn into_stopped(self) -> StoppedProcess {
        StoppedProcess {
            files: self.files(),
            samples: self.stopped.samples,
            duration_ms: self.since.elapsed().as_millis() as u64,
            unreached: self.running.len() + self.starting,
            reason: self.request.reason.clone(),
            ended_ms: unix_ms(),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        let running = self.running.values().flatten();
        let files: BTreeSet<&PathBuf> = self.stopped.files.iter().chain(running).collect();
        files.into_iter().cloned().collect()
    }
}

/// Returns the time, Unix milliseconds.
pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map(|time| time.as_millis() as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn recording(asked: &[u32]) -> ProcessRecording {
        let config = Config::read(|_| None, |_| None, Path::new("/"), &[]).unwrap();
        let reason = StartReason::Request { by: "me".into() };
        let request = ProcessStart { config, reason, for_: Some(Duration::from_secs(2)) };
        ProcessRecording::new(9, request, asked.iter().copied().collect())
    }

    fn totals(file: &str) -> RecordingTotals {
        RecordingTotals { files: vec![file.into()], samples: 5, ..RecordingTotals::default() }
    }

    #[test]
    fn threads_join_and_leave() {
        let mut recording = recording(&[1, 2]);
        recording.has_answered(1);
        recording.begin_start();
        assert!(recording.is_starting());
        recording.joined(70, vec!["/b".into()]);
        assert!(recording.is_starting(), "the second thread has not answered");
        recording.has_answered(2);
        recording.begin_start();
        recording.joined(71, vec!["/a".into()]);
        assert!(!recording.is_starting());
        assert_eq!(recording.describe().files, [Path::new("/a"), Path::new("/b")]);
        assert_eq!(recording.describe().for_ms, Some(2000));
        recording.left(70, &totals("/b"));
        recording.left(99, &totals("/of another recording"));
        assert_eq!(recording.describe().threads, 1);
        assert!(!recording.is_over());
        recording.is_stopping = true;
        assert!(!recording.is_over());
        recording.left(71, &totals("/a"));
        assert!(recording.is_over());
        let stopped = recording.into_stopped();
        assert_eq!((stopped.samples, stopped.unreached), (10, 0));
        assert_eq!(stopped.files, [Path::new("/a"), Path::new("/b")]);
    }

    #[test]
    fn a_thread_that_starts_while_all_stop_is_waited_for() {
        let mut recording = recording(&[1]);
        recording.has_answered(1);
        recording.begin_start();
        recording.is_stopping = true;
        assert!(!recording.is_over());
        recording.joined(70, vec!["/a".into()]);
        assert!(!recording.is_over());
        assert_eq!(recording.into_stopped().unreached, 1);
    }

    #[test]
    fn a_failure_is_told_if_no_thread_is_recorded() {
        let mut recording = recording(&[1, 2]);
        let fail = |recording: &mut ProcessRecording, thread, why: Option<&str>| {
            recording.has_answered(thread);
            recording.begin_start();
            recording.end_start(why.map(str::to_owned));
        };
        fail(&mut recording, 1, Some("full"));
        assert_eq!(recording.failure(), None, "the second thread may start");
        fail(&mut recording, 2, None);
        assert_eq!(recording.failure(), Some("full"));
        recording.begin_start();
        recording.joined(70, vec!["/a".into()]);
        assert_eq!(recording.failure(), None);
    }
}
