//! How long an event loop has stood still.

use crate::sampler::v8::LoopProgress;

/// Watches one event loop.
///
/// A loop that neither turns nor waits stands still, in JavaScript or in a call that blocks. One late look
/// alone is no stall: the process can have been stopped, or the machine suspended.
pub(super) struct StallWatch {
    limit_us: i64,
    /// The last look.
    last: Option<(i64, LoopProgress)>,
    /// Time without progress up to the last look, microseconds.
    still_us: i64,
}

impl StallWatch {
    pub(super) fn new(limit_us: i64) -> Self {
        Self { limit_us, last: None, still_us: 0 }
    }

    /// Returns for how long the loop has stood still, if that is longer than the limit: microseconds.
    /// The true time is longer by up to a step.
    pub(super) fn look(&mut self, now_us: i64, progress: Option<LoopProgress>) -> Option<i64> {
        let progress = progress.filter(|progress| progress.has_begun);
        let last = std::mem::replace(&mut self.last, progress.map(|progress| (now_us, progress)));
        match (last, progress) {
            (Some((last_us, last)), Some(progress)) if last == progress => {
                self.still_us += (now_us - last_us).min(self.limit_us / 2);
            }
            _ => self.still_us = 0,
        }
        (self.still_us > self.limit_us).then_some(self.still_us)
    }

    /// Returns the time to the next look, microseconds.
    pub(super) fn step_us(&self) -> i64 {
        let rest_us = self.limit_us - self.still_us + 1;
        self.longest_step_us().min(rest_us.max(1))
    }

    /// Forgets what was read.
    pub(super) fn restart(&mut self) {
        *self = Self::new(self.limit_us);
    }

    /// Returns the time between two looks at a loop that turns: rare looks cost less, and a stall is found a
    /// step after the limit at the latest. A look costs some 20 µs, most of which is the wake-up.
    fn longest_step_us(&self) -> i64 {
        (self.limit_us / 10).clamp(30_000, 250_000)
    }
}
