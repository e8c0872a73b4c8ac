//! The times of all events, and their sizes.

use std::collections::BTreeMap;

use crate::merge::output::slices::OutputSlices;
use crate::read::sniff::RecordingFile;
use crate::read::time_line::InputTimes;

/// Time between two places where a slice can be cut, microseconds.
const STEP_US: i64 = 100_000;

/// The times of all events.
#[derive(Debug, Default)]
pub(crate) struct EventTimes {
    pub histogram: Histogram,
    pub inputs: InputTimes,
}

/// Bytes of events by time.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    bytes: BTreeMap<i64, u64>,
}

impl Histogram {
    /// Adds an event.
    pub(super) fn add(&mut self, ts: i64, bytes: usize) {
        *self.bytes.entry(ts.div_euclid(STEP_US)).or_default() += bytes as u64;
    }

    /// Returns the bytes of the events in a slice.
    pub(super) fn bytes(&self, start_us: i64, end_us: i64) -> u64 {
        let is_inside = |step: &i64| (start_us..end_us).contains(&(step * STEP_US));
        self.bytes.iter().filter(|(step, _)| is_inside(step)).map(|(_, bytes)| bytes).sum()
    }

    /// Spreads the size of a `.cpuprofile` evenly over its time.
    pub(super) fn add_cpuprofile(&mut self, recording: &RecordingFile, bytes: usize) {
        const PIECES: i64 = 1000;
        let length = recording.known_end_us() - recording.start_us;
        for piece in 0..PIECES {
            let ts = recording.start_us + length * piece / PIECES;
            self.add(ts, bytes / PIECES as usize);
        }
    }

    /// Cuts a slice into slices of at most `max_bytes`, as far as possible.
    pub(super) fn cut(
        &self,
        from_us: Option<i64>,
        to_us: Option<i64>,
        max_bytes: u64,
    ) -> OutputSlices {
        let mut slices = OutputSlices::one(from_us, to_us);
        let mut sum = 0;
        for (step, bytes) in &self.bytes {
            let ts = step * STEP_US;
            if slices.part(ts).is_none() {
                continue;
            }
            if sum > 0 && sum + bytes > max_bytes {
                slices.cut_last(ts);
                sum = 0;
            }
            sum += bytes;
        }
        slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_as_large_as_they_may_be() {
        let mut histogram = Histogram::default();
        for second in 0..10 {
            histogram.add(second * 1_000_000 + 5, 100);
        }
        let edges = |slices: &OutputSlices| -> Vec<i64> {
            (0..=slices.count()).filter_map(|number| slices.edge(number)).collect()
        };
        let slices = histogram.cut(None, None, 350);
        assert_eq!(edges(&slices), [i64::MIN, 3_000_000, 6_000_000, 9_000_000, i64::MAX]);
        let slices = histogram.cut(Some(2_000_000), Some(4_000_000), 350);
        assert_eq!(edges(&slices), [2_000_000, 4_000_000]);
        // A step is never cut.
        assert_eq!(histogram.cut(None, None, 1).count(), 10);
    }
}
