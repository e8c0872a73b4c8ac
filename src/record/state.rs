//! The recording of the calling thread, and what the exports ask of it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::link::RecordingLink;
use super::process::HostProcess;
use super::segments::CompleteSegment;
use super::signals;
use super::sink::{RecordingTotals, TakenWindow};
use super::worker_script::PendingScript;
use crate::base::config::{Config, Source};
use crate::sampler::source::RawWindow;
use crate::sampler::v8::Profiler;

thread_local! {
    /// The running recording. V8's side of it never leaves its thread, and callbacks find it here
    /// without a pointer that could outlive it.
    pub(super) static RECORDING: RefCell<Option<ThreadRecording>> = const { RefCell::new(None) };
    /// The profiler of the last recording. Creating one is the slowest part of a start.
    pub(super) static IDLE_PROFILER: RefCell<Option<Profiler>> = const { RefCell::new(None) };
    /// The recording that ended before the program stopped it.
    pub(super) static ENDED_EARLY: RefCell<Option<StoppedRecording>> = const { RefCell::new(None) };
}

/// A running recording.
pub(super) struct ThreadRecording {
    /// The process.
    pub process: &'static HostProcess,
    /// The source of samples.
    pub sampler: ThreadSampler,
    /// Link to the writer thread.
    pub link: Arc<RecordingLink>,
    /// Settings.
    pub config: Config,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Start: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// Whether the thread has its name: a worker gets it from its script.
    pub is_named: Cell<bool>,
    /// The worker's script, until it is known.
    pub script: RefCell<Option<PendingScript>>,
    /// The recording before the program sent itself a signal that it survived.
    pub earlier: Option<StoppedRecording>,
}

/// The source of a recording's samples.
pub(super) enum ThreadSampler {
    V8(Profiler),
    /// JavaScript takes the windows.
    Inspector,
}

/// A recording that has ended, with complete files.
pub(crate) struct StoppedRecording {
    /// Contents of the files.
    pub totals: RecordingTotals,
    /// Segments among the files, if their history is limited.
    pub segments: Vec<CompleteSegment>,
    /// Time from start to end, microseconds.
    pub duration_us: i64,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Source of the samples.
    pub source: Source,
}

impl StoppedRecording {
    /// Takes out the segments, for a recording that continues this one.
    pub(super) fn take_segments(&mut self) -> Vec<CompleteSegment> {
        let segments = std::mem::take(&mut self.segments);
        self.totals.take_out(&segments);
        segments
    }
}

impl ThreadSampler {
    /// Stops sampling, and returns the last window. JavaScript hands over its last window itself.
    pub(super) fn stop(&self) -> Option<TakenWindow> {
        let Self::V8(profiler) = self else { return None };
        let before = Instant::now();
        let profile = profiler.stop()?;
        Some(TakenWindow { window: RawWindow::V8(profile), pause: before.elapsed() })
    }
}

impl ThreadRecording {
    /// Prepares a rotation. Returns false if the files cannot be written, so that the recording
    /// should end.
    pub(super) fn begin_window(&self) -> bool {
        if self.link.has_failed() {
            return false;
        }
        // A worker that has been busy since its first line could not tell its script.
        let script = self.script.borrow().as_ref().and_then(PendingScript::get);
        if let Some(file) = script {
            self.name_worker(file);
        }
        true
    }

    /// Hands a window over to the writer thread.
    pub(super) fn hand_over(&self, window: RawWindow, pause: Duration) {
        self.process.writer.write(&self.link, TakenWindow { window, pause });
        if self.thread_id == 0 {
            signals::arm();
        }
    }

    /// Releases the worker's `process.argv`.
    pub(super) fn release_script(&self) {
        if let Some(script) = self.script.take() {
            script.release();
        }
    }

    fn name_worker(&self, file: String) {
        self.release_script();
        if !self.is_named.replace(true) {
            self.process.writer.rename(&self.link, file);
        }
    }
}

/// Returns whether this thread is being recorded.
pub(crate) fn is_recording() -> bool {
    RECORDING.with_borrow(Option::is_some)
}

/// Returns whether this is a worker that is recorded only because a recording covers it.
pub(crate) fn is_covered() -> bool {
    RECORDING.with_borrow(|recording| recording.as_ref().is_some_and(|r| r.link.is_covered()))
}

/// Names this thread, a worker, by its script. Only the first name counts.
pub(crate) fn name_worker(file: String) {
    RECORDING.with_borrow(|recording| {
        if let Some(recording) = recording {
            recording.name_worker(file);
        }
    });
}
