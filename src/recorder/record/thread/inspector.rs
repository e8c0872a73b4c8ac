//! Takes the windows of a thread that the inspector samples.

use std::time::Duration;

use super::next_window::BegunRotation;
use super::recording::{RECORDING, ThreadRecording};
use super::stop::end_early;
use crate::record::writer::event_loop::RecordingMessage;
use crate::sampler::RawWindow;
use cpu_prof_core::base::system;

/// The inspector's next step after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Continue to sample.
    Continue,
    /// Stop for good: the recording has ended.
    GiveUp,
    /// Stop before the next profile starts, so that V8 starts another sampling thread.
    Restart,
}

/// Returns whether this thread, which is sampled by the inspector, needs a window. Extends the trace
/// of a thread that has only waited since its last window.
pub(crate) fn needs_inspector_window() -> bool {
    RECORDING.with_borrow(|recording| {
        let Some(recording) = recording else { return true };
        let has_waited = recording.has_waited() && !recording.thread.link.requests.stop.get();
        if has_waited {
            recording.tell_writer(RecordingMessage::Extend);
        }
        !has_waited
    })
}

/// Hands over a window of the inspector: its profile as JSON, the time when JavaScript began to hand
/// it over, and the time in which JavaScript started the next profile, both 0 if it has not. Times are
/// microseconds of Node's clock.
pub(crate) fn hand_over_inspector_window(
    json: String,
    since_us: i64,
    profiler_span_us: (i64, i64),
) -> NextStep {
    let next_step = RECORDING.with_borrow(|recording| match recording {
        Some(recording) => rotate_inspector(recording, json, since_us, profiler_span_us),
        None => NextStep::GiveUp,
    });
    if next_step == NextStep::GiveUp {
        end_early();
    }
    next_step
}

fn rotate_inspector(
    recording: &ThreadRecording,
    json: String,
    since_us: i64,
    span_us: (i64, i64),
) -> NextStep {
    if recording.thread.link.has_failed.get() {
        return NextStep::GiveUp;
    }
    let micros = |us: i64| Duration::from_micros(u64::try_from(us).unwrap_or(0));
    let (from_us, to_us) = span_us;
    let pause = micros(to_us - from_us);
    // The times of samples are those of V8's clock, which moves in steps.
    let lead_us = system::node_clock_lead_us();
    let span_us = match span_us {
        (0, 0) => (0, 0),
        _ => (from_us - lead_us - system::v8_clock_step_us() + 1, to_us - lead_us),
    };
    recording.next_window.rotation.set(Some(BegunRotation { pause, span_us }));
    recording.reading.resumed();
    let window = RawWindow::Inspector(json);
    recording.hand_over(recording.window(window, micros(system::now_us() + lead_us - since_us)));
    let requests = &recording.thread.link.requests;
    match (requests.stop.get(), requests.restart.take()) {
        (true, _) => NextStep::GiveUp,
        (false, true) => NextStep::Restart,
        (false, false) => NextStep::Continue,
    }
}
