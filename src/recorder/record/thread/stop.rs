//! The end of a recording: takes the last window and waits until the files are complete.

use std::time::Instant;

use super::recording::{
    ENDED_EARLY, IDLE_PROFILER, StoppedRecording, ThreadRecording, take_recording,
};
use super::sampling::ThreadSampler;
use super::worker_coverage;
use crate::record::link::taken_window::TakenWindow;
use crate::record::process::armed;
use crate::record::writer::event_loop::ClosedRecording;
use crate::sampler::RawWindow;
use crate::sampler::v8::{Profiler, Rotated, V8Profile};
use cpu_prof_core::base::system;

/// Stops a recording, and waits for its files. Returns the profiler with the profiles that are not
/// deleted yet, which no other thread reads; no profiler if it must not be used or freed, because V8's
/// sampling thread or the writer thread may still be using it.
pub(super) fn finish(
    recording: ThreadRecording,
) -> (StoppedRecording, Option<(Profiler, Vec<V8Profile>)>) {
    worker_coverage::stop_workers(&recording);
    recording.thread.link.close_waker();
    recording.observers.end();
    let sampling = stop_sampling(&recording);
    let has_stopped = sampling.is_some();
    let (last, surplus) = sampling.unwrap_or_default();
    if let Some(entry_hook) = recording.waits.entry_hook {
        entry_hook.remove();
    }
    let duration_us = system::now_us() - recording.thread.start_us;
    let closed = recording.process.writer.close(&recording.thread.link, last);
    recording.reading.end();
    let source = recording.sampler.borrow().source();
    let profiler = match recording.sampler.into_inner() {
        ThreadSampler::V8(profiler) => Some(profiler),
        ThreadSampler::Walk(walker) => {
            walker.dispose();
            None
        }
        ThreadSampler::Inspector => None,
    };
    let has_written = closed.is_some();
    let ClosedRecording { totals, segments } = closed.unwrap_or_default();
    if let (Some(parent), Some(_)) = (recording.thread.link.parent, &recording.origin.reason) {
        armed::left(parent, recording.thread.link.id, &totals);
    }
    let mut stopped =
        StoppedRecording { totals, segments, duration_us, thread_id: recording.thread.tid, source };
    if let Some(mut earlier) = recording.origin.earlier {
        earlier.totals.add(stopped.totals);
        stopped.totals = earlier.totals;
        stopped.duration_us += earlier.duration_us;
    }
    let profiler = profiler.and_then(|profiler| {
        if !has_written {
            profiler.forbid_deletion();
        }
        (has_stopped && has_written).then(|| {
            let undeleted = recording.thread.link.read_profiles.take().into_iter().chain(surplus);
            (profiler, undeleted.collect())
        })
    });
    (stopped, profiler)
}

/// Stops sampling. Returns the last window, and a profile that repeats a part of it: JavaScript hands
/// over its last window itself, and suspended sampling has none. Returns None if V8 has no sampling
/// thread that has stopped.
fn stop_sampling(recording: &ThreadRecording) -> Option<(Option<TakenWindow>, Option<V8Profile>)> {
    if recording.thread.link.suspension.is_on.get() {
        return Some((None, None));
    }
    let before = Instant::now();
    match &*recording.sampler.borrow() {
        ThreadSampler::V8(profiler) => {
            let Rotated { profile, surplus } = profiler.stop()?;
            Some((Some(recording.window(RawWindow::V8(profile), before.elapsed())), surplus))
        }
        ThreadSampler::Walk(walker) => {
            let window = RawWindow::Walk(Box::new(walker.pause()));
            Some((Some(recording.window(window, before.elapsed())), None))
        }
        ThreadSampler::Inspector => None,
    }
}

/// Stops recording this thread, and returns when its files are complete. Returns None if the thread
/// was not recorded.
pub(crate) fn stop() -> Option<StoppedRecording> {
    let Some(recording) = take_recording() else { return ENDED_EARLY.take() };
    let (stopped, profiler) = finish(recording);
    if let Some((profiler, undeleted)) = profiler {
        profiler.delete(undeleted);
        IDLE_PROFILER.set(Some(profiler));
    }
    Some(stopped)
}

/// Stops recording this thread, and lets V8 forget what it noted of the program's code: a thread that is only
/// armed costs nothing.
pub(super) fn stop_and_forget() {
    stop();
    if let Some(profiler) = IDLE_PROFILER.take() {
        profiler.dispose();
    }
}

/// Stops recording this thread. A later [`stop`] returns the result.
pub(crate) fn end_early() {
    if let Some(stopped) = stop() {
        ENDED_EARLY.set(Some(stopped));
    }
}
