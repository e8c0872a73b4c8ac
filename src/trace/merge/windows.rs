//! Which file an event goes into, by its time.

use std::collections::BTreeMap;

/// A piece of this length is never cut in two, microseconds.
const STEP_US: i64 = 100_000;

/// Stretches of time, one for each file, from the first on: half open, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// One more than there are files.
    edges: Vec<i64>,
}

impl Windows {
    /// One file.
    pub fn one(from_us: Option<i64>, to_us: Option<i64>) -> Self {
        Self { edges: vec![from_us.unwrap_or(i64::MIN), to_us.unwrap_or(i64::MAX)] }
    }

    /// How many files there are.
    pub fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Whether everything goes into one file.
    pub fn is_everything(&self) -> bool {
        self.edges == [i64::MIN, i64::MAX]
    }

    /// The file for this time.
    pub fn part(&self, ts: i64) -> Option<usize> {
        let after = self.edges.partition_point(|edge| *edge <= ts);
        (after > 0 && after < self.edges.len()).then(|| after - 1)
    }

    /// The first file for something that lasts.
    pub fn part_of_span(&self, ts: i64, dur: i64) -> Option<usize> {
        let first = self.edges[0];
        let is_cut = ts < first && ts.saturating_add(dur) >= first;
        self.part(if is_cut { first } else { ts })
    }

    /// When the file begins, or `start` if that is later.
    pub fn start(&self, part: usize, start: i64) -> i64 {
        self.edges[part].max(start)
    }
}

/// How much there is at what time.
#[derive(Debug, Default)]
pub struct Histogram {
    bytes: BTreeMap<i64, u64>,
}

impl Histogram {
    /// Adds an event.
    pub fn add(&mut self, ts: i64, bytes: usize) {
        *self.bytes.entry(ts.div_euclid(STEP_US)).or_default() += bytes as u64;
    }

    /// Cuts a window into pieces of at most `most` bytes, as far as possible.
    pub fn cut(&self, from_us: Option<i64>, to_us: Option<i64>, most: u64) -> Windows {
        let mut windows = Windows::one(from_us, to_us);
        let mut sum = 0;
        for (step, bytes) in &self.bytes {
            let ts = step * STEP_US;
            if windows.part(ts).is_none() {
                continue;
            }
            if sum > 0 && sum + bytes > most {
                let last = windows.edges.len() - 1;
                windows.edges.insert(last, ts);
                sum = 0;
            }
            sum += bytes;
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_one_file() {
        let windows = Windows { edges: vec![10, 20, 30] };
        assert_eq!(windows.count(), 2);
        let parts = [9, 10, 19, 20, 29, 30].map(|ts| windows.part(ts));
        assert_eq!(parts, [None, Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(windows.part_of_span(5, 4), None);
        assert_eq!(windows.part_of_span(5, 5), Some(0));
        assert_eq!(windows.part_of_span(25, 99), Some(1));
        assert_eq!((windows.start(0, 15), windows.start(1, 15)), (15, 20));
        let all = Windows::one(None, None);
        assert!(all.is_everything());
        assert_eq!([i64::MIN, 0, i64::MAX - 1].map(|ts| all.part(ts)), [Some(0); 3]);
    }

    #[test]
    fn pieces_are_as_large_as_they_may_be() {
        let mut histogram = Histogram::default();
        for second in 0..10 {
            histogram.add(second * 1_000_000 + 5, 100);
        }
        let windows = histogram.cut(None, None, 350);
        assert_eq!(windows.edges, [i64::MIN, 3_000_000, 6_000_000, 9_000_000, i64::MAX]);
        let windows = histogram.cut(Some(2_000_000), Some(4_000_000), 350);
        assert_eq!(windows.edges, [2_000_000, 4_000_000]);
        // What cannot be cut stays whole.
        assert_eq!(histogram.cut(None, None, 1).count(), 10);
    }
}
