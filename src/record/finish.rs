//! The end of a recording: takes the last window and waits until the files are complete.

use super::coverage;
use super::state::{StoppedRecording, ThreadRecording, ThreadSampler};
use crate::base::config::Source;
use crate::base::system;
use crate::sampler::v8::{Profiler, V8Profile};

/// A profiler that has stopped, with its profiles that are read and not deleted yet.
pub(super) struct StoppedProfiler {
    /// The profiler, which can be started again.
    pub profiler: Profiler,
    /// The profiles.
    pub undeleted: Vec<V8Profile>,
}

/// Stops a recording, and waits for its files. Returns no profiler if it must not be used or freed,
/// because V8's sampling thread or the writer thread may still be using it.
pub(super) fn finish(recording: ThreadRecording) -> (StoppedRecording, Option<StoppedProfiler>) {
    coverage::stop_workers(&recording);
    recording.link.close_waker();
    let last = recording.sampler.stop();
    let has_stopped = last.is_some();
    let duration_us = system::now_us() - recording.start_us;
    let closed = recording.process.writer.close(&recording.link, last);
    recording.release_script();
    let (totals, undeleted, segments) = match closed {
        Some(closed) => (closed.totals, Some(closed.undeleted), closed.segments),
        None => Default::default(),
    };
    let (source, profiler) = match recording.sampler {
        ThreadSampler::V8(profiler) => (Source::V8, Some(profiler)),
        ThreadSampler::Inspector => (Source::Inspector, None),
    };
    let mut stopped =
        StoppedRecording { totals, segments, duration_us, thread_id: recording.thread_id, source };
    if let Some(mut earlier) = recording.earlier {
        earlier.totals.add(stopped.totals);
        stopped.totals = earlier.totals;
        stopped.duration_us += earlier.duration_us;
    }
    let undeleted = undeleted.filter(|_| has_stopped);
    let profiler = profiler
        .zip(undeleted)
        .map(|(profiler, undeleted)| StoppedProfiler { profiler, undeleted });
    (stopped, profiler)
}
