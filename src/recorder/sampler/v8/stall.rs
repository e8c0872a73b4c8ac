//! Detects that V8's sampling thread is stuck.
//!
//! V8 keeps two queues of samples: those of its timer, and those that it takes by itself, for
//! example at the start of each profile. Both are processed in step with V8's log of code. A race in
//! the numbering of that log can leave a sample at the front of a queue whose turn has passed: the
//! thread then spins, and the samples behind it never arrive. V8 creates new queues when it is
//! stopped and started again.
//!
//! The first sample of a window is of the second kind, and comes some ten microseconds after the
//! window's start (measured on Node 18 to 26; 100 µs in one of ten windows with four busy threads
//! per core). A window without this sample was not sampled at all, or has a stuck queue. Several of
//! them in a row are not a coincidence.

use cpu_prof_core::base::system;
use cpu_prof_core::profile::window::Window;

/// Watches the windows of one thread.
pub(crate) struct StallDetector {
    /// Longest time from a window's start to its first sample, microseconds.
    grace_us: i64,
    /// Number of windows in a row without a first sample in time, and the start of the first such
    /// window: CLOCK_MONOTONIC, microseconds.
    missing: Option<(u32, i64)>,
}

impl StallDetector {
    /// Creates a detector for a thread that is sampled every `interval_us`.
    pub(crate) fn new(interval_us: u32) -> Self {
        // A longer grace would often mistake a sample of the timer for the first sample. At the
        // smallest intervals, V8 reaches 27 to 100 µs between two samples of the timer.
        let grace_us = i64::from(interval_us / 4).clamp(15, 100);
        // A step of the clock between the two times is no delay.
        Self { grace_us: grace_us.max(system::v8_clock_step_us()), missing: None }
    }

    /// Takes the next window, and returns whether sampling is stuck.
    pub(crate) fn is_stuck(&mut self, window: &Window) -> bool {
        const WINDOWS: u32 = 6;
        const MIN_SPAN_US: i64 = 1_500_000;
        let first = window.samples.first();
        if first.is_some_and(|sample| sample.time_us - window.start_us <= self.grace_us) {
            self.missing = None;
            return false;
        }
        let (count, since_us) = self.missing.unwrap_or((0, window.start_us));
        let is_stuck = count + 1 >= WINDOWS && window.end_us - since_us >= MIN_SPAN_US;
        self.missing = (!is_stuck).then_some((count + 1, since_us));
        is_stuck
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_prof_core::profile::window::Sample;

    /// Returns the `n`th window of `length_us`, with a first sample `first_us` after its start.
    fn window(n: i64, length_us: i64, first_us: Option<i64>) -> Window {
        let start_us = n * length_us;
        let samples =
            first_us.map(|first| Sample { time_us: start_us + first, ..Sample::default() });
        let samples = samples.into_iter().collect();
        Window { samples, start_us, end_us: start_us + length_us, ..Window::default() }
    }

    #[test]
    fn windows_without_samples_or_with_timer_samples_only_are_stuck() {
        for first_us in [None, Some(700)] {
            let mut detector = StallDetector::new(1000);
            let stuck: Vec<i64> =
                (0..12).filter(|n| detector.is_stuck(&window(*n, 500_000, first_us))).collect();
            assert_eq!(stuck, [5, 11]);
        }
    }

    #[test]
    fn more_short_windows_are_needed() {
        let mut detector = StallDetector::new(1000);
        assert!((0..149).all(|n| !detector.is_stuck(&window(n, 10_000, None))));
        assert!(detector.is_stuck(&window(149, 10_000, None)));
    }

    #[test]
    fn a_few_windows_may_miss_their_first_sample() {
        let mut detector = StallDetector::new(1000);
        assert!((0..100).all(|n| {
            let first_us = if n % 6 == 0 { Some(40) } else { Some(9000) };
            !detector.is_stuck(&window(n, 5_000_000, first_us))
        }));
    }
}
