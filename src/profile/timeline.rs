//! Times of samples that never run back.

/// Turns the times of samples into what lies between them. Time never runs back, even if V8's
/// samples of one moment did.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeline {
    last_us: i64,
}

impl Timeline {
    /// A line that starts at `start_us`.
    pub(crate) fn new(start_us: i64) -> Self {
        Self { last_us: start_us }
    }

    /// From the last sample, or the start, to this one: microseconds.
    pub(crate) fn delta(&mut self, time_us: i64) -> i64 {
        let delta = time_us.saturating_sub(self.last_us).max(0);
        self.last_us += delta;
        delta
    }

    /// The last sample's time, or the start.
    pub(crate) fn last_us(&self) -> i64 {
        self.last_us
    }
}
