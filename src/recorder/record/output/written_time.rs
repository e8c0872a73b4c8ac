//! Up to when a trace is written, and which windows it lacks because of a full disk.

use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::gap::Gap;

/// Up to when a trace is written. Times are CLOCK_MONOTONIC, microseconds.
#[derive(Debug)]
pub(super) struct WrittenTime {
    until_us: i64,
    /// The time of the windows that could not be written since the last one that was, and the CPU
    /// times at the end of the last of them.
    pub(super) missing: Option<(Gap, CpuTimes)>,
}

impl WrittenTime {
    /// Returns the state of a trace that starts now.
    pub(super) fn starting_at(start_us: i64) -> Self {
        Self { until_us: start_us, missing: None }
    }

    /// Notes that the trace is written up to a time.
    pub(super) fn written(&mut self, until_us: i64) {
        *self = Self::starting_at(until_us.max(self.until_us));
    }

    /// Notes that a window could not be written, of which the end, the samples and the CPU times at
    /// the end are given.
    pub(super) fn lost(&mut self, end_us: i64, samples: u64, cpu: CpuTimes) {
        let from_us = self.until_us;
        let gap = self.missing.map_or(Gap { from_us, to_us: from_us, samples: 0 }, |(gap, _)| gap);
        let gap = Gap { to_us: end_us.max(gap.to_us), samples: gap.samples + samples, ..gap };
        self.missing = Some((gap, cpu));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_windows_in_a_row_are_one_gap() {
        let cpu = |us| CpuTimes { cpu_us: Some(us), ..CpuTimes::default() };
        let mut time = WrittenTime::starting_at(100);
        time.written(200);
        assert_eq!(time.missing, None);
        time.lost(300, 7, cpu(1));
        time.lost(400, 5, cpu(2));
        let gap = Gap { from_us: 200, to_us: 400, samples: 12 };
        assert_eq!(time.missing, Some((gap, cpu(2))));
        time.written(400);
        assert_eq!(time.missing, None);
        time.lost(500, 1, cpu(3));
        assert_eq!(time.missing.unwrap().0, Gap { from_us: 400, to_us: 500, samples: 1 });
    }
}
