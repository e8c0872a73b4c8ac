//! Notices when V8's sampling thread is stuck.
//!
//! V8 keeps two queues of samples: those of its ticks, and those that it takes by itself, as at the
//! start of each profile. Both are processed in step with its log of code, and a race in the
//! numbering of that log can leave a sample in front of a queue whose turn has passed: the thread
//! then spins, and the samples behind it never come. V8 makes new queues when it is stopped and
//! started again.
//!
//! A window's first sample is of the second kind, some ten microseconds after its start (measured
//! on Node 18 to 26; 100 µs in one of ten windows with four busy threads a core). A window without
//! it was sampled by nobody, or has a queue that stands still; a few of them in a row are no chance.

use crate::profile::window::Window;

/// Watches one thread's windows.
pub(crate) struct StallDetector {
    /// How long after a window's start its first sample may come, microseconds.
    grace_us: i64,
    /// How many windows without it there were in a row, and since when: CLOCK_MONOTONIC,
    /// microseconds.
    missing: Option<(u32, i64)>,
}

impl StallDetector {
    /// For a thread that is sampled every `interval_us`.
    pub(crate) fn new(interval_us: u32) -> Self {
        // Ticks are not to be taken for it too often.
        let grace_us = i64::from(interval_us / 4).clamp(15, 100);
        Self { grace_us, missing: None }
    }

    /// Whether the sampling is stuck, as of this window.
    pub(crate) fn is_stuck(&mut self, window: &Window) -> bool {
        const WINDOWS: u32 = 6;
        const PATIENCE_US: i64 = 1_500_000;
        let first = window.samples.first();
        if first.is_some_and(|sample| sample.time_us - window.start_us <= self.grace_us) {
            self.missing = None;
            return false;
        }
        let (count, since_us) = self.missing.unwrap_or((0, window.start_us));
        let is_stuck = count + 1 >= WINDOWS && window.end_us - since_us >= PATIENCE_US;
        self.missing = (!is_stuck).then_some((count + 1, since_us));
        is_stuck
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::window::Sample;

    /// The `n`th window of `length_us`, whose first sample comes `first_us` after its start.
    fn window(n: i64, length_us: i64, first_us: Option<i64>) -> Window {
        let start_us = n * length_us;
        let samples = first_us.map(|first| Sample { time_us: start_us + first, node: 0 });
        let samples = samples.into_iter().collect();
        Window { samples, start_us, end_us: start_us + length_us, ..Window::default() }
    }

    #[test]
    fn nothing_at_all_and_nothing_but_ticks_are_stuck() {
        for first_us in [None, Some(700)] {
            let mut pulse = StallDetector::new(1000);
            let stuck: Vec<i64> =
                (0..12).filter(|n| pulse.is_stuck(&window(*n, 500_000, first_us))).collect();
            assert_eq!(stuck, [5, 11]);
        }
    }

    #[test]
    fn short_windows_must_be_more() {
        let mut pulse = StallDetector::new(1000);
        assert!((0..149).all(|n| !pulse.is_stuck(&window(n, 10_000, None))));
        assert!(pulse.is_stuck(&window(149, 10_000, None)));
    }

    #[test]
    fn a_few_windows_may_miss_it() {
        let mut pulse = StallDetector::new(1000);
        assert!((0..100).all(|n| {
            let first_us = if n % 6 == 0 { Some(40) } else { Some(9000) };
            !pulse.is_stuck(&window(n, 5_000_000, first_us))
        }));
    }
}
