//! When the threads of a process worked.

/// What a process did, and when.
#[derive(Debug, Clone, Default)]
pub struct ProcessActivity {
    /// Times in which a thread worked, or waited for a core.
    pub work: TimeSpans,
    /// The same of each thread, by its index.
    pub work_of_threads: Vec<TimeSpans>,
    /// The same of all, and times in which a thread was blocked in a call.
    pub called: TimeSpans,
}

/// Times apart from each other.
#[derive(Debug, Clone, Default)]
pub struct TimeSpans(Vec<(i64, i64)>);

impl TimeSpans {
    /// Adds a time. [`TimeSpans::join`] is to follow.
    pub(super) fn add(&mut self, from_us: i64, to_us: i64) {
        match self.0.last_mut() {
            Some((_, end_us)) if *end_us == from_us => *end_us = to_us,
            _ => self.0.push((from_us, to_us)),
        }
    }

    /// Adds the times of another list. [`TimeSpans::join`] is to follow.
    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Returns the times.
    pub(super) fn list(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// Joins the times that touch each other.
    pub(super) fn join(&mut self) {
        self.0.sort_unstable();
        self.0.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
    }

    /// Returns the length between two moments, microseconds.
    pub(super) fn us(&self, from_us: i64, to_us: i64) -> i64 {
        let lengths =
            self.between(from_us, to_us).map(|(from_us, to_us)| to_us.saturating_sub(from_us));
        lengths.fold(0, i64::saturating_add)
    }

    /// Returns the last end between two moments, microseconds.
    pub(super) fn last_us(&self, from_us: i64, to_us: i64) -> Option<i64> {
        self.between(from_us, to_us).map(|(_, to_us)| to_us).last()
    }

    fn between(&self, from_us: i64, to_us: i64) -> impl Iterator<Item = (i64, i64)> {
        let first = self.0.partition_point(|(_, end_us)| *end_us <= from_us);
        let spans = self.0[first..].iter().take_while(move |(start_us, _)| *start_us < to_us);
        spans.map(move |(start_us, end_us)| ((*start_us).max(from_us), (*end_us).min(to_us)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_touch_are_joined() {
        let mut spans = TimeSpans::default();
        for (from_us, to_us) in [(0, 10), (10, 20), (50, 60), (15, 30), (100, 200)] {
            spans.add(from_us, to_us);
        }
        spans.join();
        assert_eq!(spans.0, [(0, 30), (50, 60), (100, 200)]);
        assert_eq!(spans.us(20, 150), 10 + 10 + 50);
        assert_eq!(spans.last_us(20, 99), Some(60));
        assert_eq!(spans.last_us(60, 100), None);
        assert_eq!(TimeSpans::default().us(0, 100), 0);
    }
}
