//! What the thread notes for its next window.

use std::cell::Cell;
use std::time::Duration;

use crate::sampler::v8::RunningFunction;

/// The notes for the next window.
#[derive(Default)]
pub(super) struct NextWindow {
    /// The rotation that has begun.
    pub rotation: Cell<Option<BegunRotation>>,
    /// Start and end of the step that resumed sampling in this window: CLOCK_MONOTONIC,
    /// microseconds.
    pub resumed_us: Cell<Option<(i64, i64)>>,
    /// Functions in which the thread was at the start, the outermost first, until the first window.
    pub began_in: Cell<Vec<RunningFunction>>,
    /// Start and end of the call in which V8 takes a sample with the name of addons' functions, in this window:
    /// CLOCK_MONOTONIC, microseconds.
    pub addon_call_us: Cell<Option<(i64, i64)>>,
}

/// The first step of a rotation, which has been taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct BegunRotation {
    /// Time that the step took on the thread.
    pub pause: Duration,
    /// Start and end of the step: CLOCK_MONOTONIC, microseconds.
    pub span_us: (i64, i64),
}
