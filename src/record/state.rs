//! The recording of the calling thread, and what the exports ask of it.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::link::RecordingLink;
use super::process::HostProcess;
use super::signals;
use super::sink::{RecordingTotals, TakenWindow};
use super::worker_name::WorkerName;
use crate::base::config::{Config, Source};
use crate::base::system;
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
    /// Time from start to end, microseconds.
    pub duration_us: i64,
    /// Node's thread id, 0 for the main thread.
    pub thread_id: u32,
    /// Source of the samples.
    pub source: Source,
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
    /// Hands a window over to the writer thread.
    pub(super) fn hand_over(&self, window: RawWindow, pause: Duration) {
        self.process.writer.write(&self.link, TakenWindow { window, pause });
        if self.thread_id == 0 {
            signals::arm();
        }
    }
}

/// Takes the recording of this thread, to end it. A forked child has the memory of a recording, but
/// neither the writer thread nor V8's sampling thread, and would wait for both.
pub(super) fn take_recording() -> Option<ThreadRecording> {
    if system::is_forked() { None } else { RECORDING.take() }
}

/// Returns whether this thread is being recorded.
pub(crate) fn is_recording() -> bool {
    !system::is_forked() && RECORDING.with_borrow(Option::is_some)
}

/// Returns whether this is a worker that is recorded only because a recording covers it.
pub(crate) fn is_covered() -> bool {
    RECORDING.with_borrow(|recording| recording.as_ref().is_some_and(|r| r.link.is_covered()))
}

/// Names this thread, a worker, if there is a name.
pub(crate) fn name_worker(name: Option<WorkerName>) {
    RECORDING.with_borrow(|recording| {
        if let (Some(recording), Some(name)) = (recording, name) {
            recording.process.writer.rename(&recording.link, name);
        }
    });
}
