//! Slices of the time: which part an event goes into.

/// Consecutive slices of the time, one a part: half open, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputSlices {
    /// Edges of the slices, microseconds: one more than there are slices.
    edges: Vec<i64>,
    /// Whether 0 is a time like others. In most traces 0 stands for no time.
    pub has_zero: bool,
}

impl OutputSlices {
    /// Returns one slice.
    pub(super) fn one(from_us: Option<i64>, to_us: Option<i64>) -> Self {
        let edges = vec![from_us.unwrap_or(i64::MIN), to_us.unwrap_or(i64::MAX)];
        Self { edges, has_zero: false }
    }

    /// Cuts the last slice in two.
    pub(super) fn cut_last(&mut self, ts: i64) {
        let last = self.edges.len() - 1;
        self.edges.insert(last, ts);
    }

    /// Returns the count of slices.
    pub(super) fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns whether all times are in one slice.
    pub(super) fn is_everything(&self) -> bool {
        self.edges == [i64::MIN, i64::MAX]
    }

    /// Returns the part for a time.
    pub(super) fn part(&self, ts: i64) -> Option<usize> {
        self.after(self.passed(ts))
    }

    /// Returns the part behind so many edges.
    pub(super) fn after(&self, edges: usize) -> Option<usize> {
        (edges > 0 && edges < self.edges.len()).then(|| edges - 1)
    }

    /// Returns the count of edges at or before a time.
    pub(super) fn passed(&self, ts: i64) -> usize {
        self.edges.partition_point(|edge| *edge <= ts)
    }

    /// Returns the start of a part, or the end of the last part for the count of parts.
    pub(super) fn edge(&self, number: usize) -> Option<i64> {
        self.edges.get(number).copied()
    }

    /// Returns the time that decides about the part of a span: the span's start, or the first
    /// slice's start if the span lasts until then.
    pub(super) fn of_span(&self, ts: i64, dur: i64) -> i64 {
        let first = self.edges[0];
        let is_cut = ts < first && ts.saturating_add(dur) >= first;
        if is_cut { first } else { ts }
    }

    /// Returns the start of a part, or `start` if that is later.
    pub(super) fn start(&self, part: usize, start: i64) -> i64 {
        self.edges[part].max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_one_part() {
        let slices = OutputSlices { edges: vec![10, 20, 30], has_zero: false };
        assert_eq!(slices.count(), 2);
        let parts = [9, 10, 19, 20, 29, 30].map(|ts| slices.part(ts));
        assert_eq!(parts, [None, Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(
            [(5, 4), (5, 5), (25, 99)].map(|(ts, dur)| slices.of_span(ts, dur)),
            [5, 10, 25]
        );
        assert_eq!((slices.start(0, 15), slices.start(1, 15)), (15, 20));
        let all = OutputSlices::one(None, None);
        assert!(all.is_everything());
        assert_eq!([i64::MIN, 0, i64::MAX - 1].map(|ts| all.part(ts)), [Some(0); 3]);
    }
}
