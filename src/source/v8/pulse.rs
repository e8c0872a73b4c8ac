//! Notices when V8's sampling thread is stuck.
//!
//! V8 keeps two queues of samples: those of its ticks, and those that it takes by itself, as at the
//! start of each profile. Both are processed in step with its log of code, and a race in the
//! numbering of that log can leave a sample in front of a queue whose turn has passed: the thread
//! then spins, and the samples behind it never come.
//!
//! Each window begins with a sample of the second kind, which is no hit of its node. So a window
//! with no more samples than hits says that one of the queues stands still; one such window may be
//! chance. V8 makes new queues when it is stopped and started again.

use crate::model::Window;

/// Watches one thread's windows.
#[derive(Default)]
pub struct Pulse {
    /// How many windows without a pulse there were in a row, and since when: CLOCK_MONOTONIC,
    /// microseconds.
    missing: Option<(u32, i64)>,
}

impl Pulse {
    /// Whether the sampling is stuck, as of this window.
    pub fn is_stuck(&mut self, window: &Window) -> bool {
        const WINDOWS: u32 = 4;
        const PATIENCE_US: i64 = 1_500_000;
        if window.samples.len() > window.hits as usize {
            self.missing = None;
            return false;
        }
        let (count, since_us) = self.missing.unwrap_or((0, window.end_us));
        let is_stuck = count + 1 >= WINDOWS && window.end_us - since_us >= PATIENCE_US;
        self.missing = (!is_stuck).then_some((count + 1, since_us));
        is_stuck
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sample;

    fn window(at_ms: i64, samples: usize, hits: u32) -> Window {
        let end_us = at_ms * 1000;
        let samples = vec![Sample { time_us: end_us, node: 0 }; samples];
        Window { samples, hits, end_us, ..Window::default() }
    }

    #[test]
    fn nothing_at_all_and_nothing_but_ticks_are_stuck() {
        for count in [0, 500] {
            let mut pulse = Pulse::default();
            let stuck = (1..=8).map(|n| pulse.is_stuck(&window(n * 500, count, count as u32)));
            let stuck: Vec<bool> = stuck.collect();
            assert_eq!(stuck, [false, false, false, true, false, false, false, true]);
        }
    }

    #[test]
    fn short_windows_and_single_ones_are_chance() {
        let mut pulse = Pulse::default();
        assert!((1..=100).all(|n| !pulse.is_stuck(&window(n * 10, 0, 0))));
        let mut pulse = Pulse::default();
        assert!((1..=100).all(|n| {
            let pulses = n % 3 == 0;
            !pulse.is_stuck(&window(n * 5000, 500 + usize::from(pulses), 500))
        }));
    }

    #[test]
    fn a_thread_whose_ticks_do_not_arrive_is_not_stuck() {
        let mut pulse = Pulse::default();
        assert!((1..=100).all(|n| !pulse.is_stuck(&window(n * 500, 1, 0))));
    }
}
