//! The share of a sliding time by which a counter grows.

use std::collections::VecDeque;

use cpu_prof_core::base::micros::micros;
use cpu_prof_core::base::settings::start::Share;

/// Delay of a look on a machine that is busy, microseconds.
const LATE_US: i64 = 500_000;

/// Watches a counter of microseconds.
pub(super) struct ShareWatch {
    limit: Share,
    /// Readings (time, counter), the oldest first: one at the start of the sliding time or before, and
    /// all later.
    readings: VecDeque<(i64, i64)>,
}

impl ShareWatch {
    pub(super) fn new(limit: Share) -> Self {
        Self { limit, readings: VecDeque::new() }
    }

    /// Returns the share, if it is above the limit for the whole of the sliding time.
    pub(super) fn look(&mut self, now_us: i64, counter_us: Option<i64>) -> Option<f64> {
        let Some(counter_us) = counter_us else {
            self.restart();
            return None;
        };
        let (period_us, step_us) = (self.period_us(), self.step_us());
        // The event loop of a process that was stopped meanwhile seems busy.
        let is_late = |last_us| now_us - last_us > 2 * step_us + LATE_US;
        if self.readings.back().is_some_and(|(last_us, _)| is_late(*last_us)) {
            self.restart();
        }
        self.readings.push_back((now_us, counter_us));
        while self.readings.get(1).is_some_and(|(second_us, _)| now_us - second_us >= period_us) {
            self.readings.pop_front();
        }
        let (first_us, first) = *self.readings.front()?;
        let (time_us, grown_us) = (now_us - first_us, counter_us - first);
        let share = grown_us as f64 / time_us.max(1) as f64;
        let is_above = share > f64::from(self.limit.thousandths) / 1000.0;
        (time_us >= period_us && is_above).then_some(share)
    }

    /// Returns the time between two looks, microseconds.
    pub(super) fn step_us(&self) -> i64 {
        (self.period_us() / 10).clamp(100_000, 5_000_000)
    }

    /// Forgets what was read.
    pub(super) fn restart(&mut self) {
        self.readings.clear();
    }

    fn period_us(&self) -> i64 {
        micros(self.limit.period)
    }
}
