//! A window as the recorded thread hands it over.

use std::time::Duration;

use super::recording_link::ThreadActivity;
use crate::sampler::RawWindow;
use crate::sampler::v8::RunningFunction;

/// A window on its way to the disk.
pub(crate) struct TakenWindow {
    /// The window as its source returned it.
    pub window: RawWindow,
    /// Time that taking the window cost the program's thread.
    pub pause: Duration,
    /// What the thread knows about the samples of the window.
    pub circumstances: Circumstances,
}

/// The circumstances in which a window was sampled.
pub(crate) struct Circumstances {
    /// Time in which the next profile was started: CLOCK_MONOTONIC, microseconds.
    pub profiler_span_us: Option<(i64, i64)>,
    /// Time in which sampling was resumed after a suspension: CLOCK_MONOTONIC, microseconds.
    pub resumed_us: Option<(i64, i64)>,
    /// Whether sampling is suspended from the end of this window on.
    pub is_suspended: bool,
    /// Activity of the thread up to this window; none if V8's sampling ends the waits of its event
    /// loop, or its CPU time is not known.
    pub activity: Option<ThreadActivity>,
    /// Whether the thread mostly waited for events since its last window.
    pub was_waiting: bool,
    /// Functions in which the thread was when its recording was started from outside, the outermost first.
    /// Only the first window has these.
    pub began_in: Vec<RunningFunction>,
    /// Time in which JavaScript was in a call of this addon, which only waited: CLOCK_MONOTONIC, microseconds.
    pub addon_call_us: Option<(i64, i64)>,
}
