//! Slices of the time: which part an event goes into.

/// Consecutive slices of the time, one a part: half open, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputSlices {
    /// Edges of the slices, microseconds: one more than there are slices.
    edges: Vec<i64>,
    /// Whether 0 is a time like others. In most traces 0 stands for no time.
    pub has_zero: bool,
}

impl OutputSlices {
    /// Returns one slice.
    pub(crate) fn one(from_us: Option<i64>, to_us: Option<i64>) -> Self {
        let edges = vec![from_us.unwrap_or(i64::MIN), to_us.unwrap_or(i64::MAX)];
        Self { edges, has_zero: false }
    }

    /// Returns slices with these edges.
    pub(crate) fn with_edges(&self, edges: Vec<i64>) -> Self {
        Self { edges, has_zero: self.has_zero }
    }

    /// Cuts the last slice in two.
    pub(crate) fn cut_last(&mut self, ts: i64) {
        let last = self.edges.len() - 1;
        self.edges.insert(last, ts);
    }

    /// Returns the count of slices.
    pub(crate) fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns whether all times are in one slice.
    pub(crate) fn is_everything(&self) -> bool {
        self.edges == [i64::MIN, i64::MAX]
    }

    /// Returns the part for a time.
    pub(crate) fn part(&self, ts: i64) -> Option<usize> {
        self.after(self.passed(ts))
    }

    /// Returns the part behind so many edges.
    pub(crate) fn after(&self, edges: usize) -> Option<usize> {
        (edges > 0 && edges < self.edges.len()).then(|| edges - 1)
    }

    /// Returns the count of edges at or before a time.
    pub(crate) fn passed(&self, ts: i64) -> usize {
        self.edges.partition_point(|edge| *edge <= ts)
    }

    /// Returns the start of a part, or the end of the last part for the count of parts.
    pub(crate) fn edge(&self, number: usize) -> Option<i64> {
        self.edges.get(number).copied()
    }

    /// Returns the first part that starts after a time; the count of parts if there is none.
    pub(crate) fn first_after(&self, ts: i64) -> usize {
        self.passed(ts).min(self.count())
    }

    /// Returns the start and the end of a part, microseconds.
    pub(crate) fn range(&self, part: usize) -> (i64, i64) {
        (self.edges[part], self.edges[part + 1])
    }

    /// Returns the start of a part, or `start` if that is later.
    pub(crate) fn start(&self, part: usize, start: i64) -> i64 {
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
        assert_eq!([9, 10, 20, 30].map(|ts| slices.first_after(ts)), [0, 1, 2, 2]);
        assert_eq!([slices.range(0), slices.range(1)], [(10, 20), (20, 30)]);
        assert_eq!((slices.start(0, 15), slices.start(1, 15)), (15, 20));
        let all = OutputSlices::one(None, None);
        assert!(all.is_everything());
        assert_eq!([i64::MIN, 0, i64::MAX - 1].map(|ts| all.part(ts)), [Some(0); 3]);
    }
}
