//! What the signal handler has read with each sample, until the samples come.

use std::collections::VecDeque;

/// Records in the order of their times.
#[derive(Debug)]
pub(crate) struct TimedRecords<T>(VecDeque<TimedRecord<T>>);

#[derive(Debug)]
struct TimedRecord<T> {
    from_us: i64,
    to_us: i64,
    value: T,
}

impl<T> Default for TimedRecords<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> TimedRecords<T> {
    /// Adds a record of a sample that was taken between two times: CLOCK_MONOTONIC, microseconds.
    pub(crate) fn add(&mut self, from_us: i64, to_us: i64, value: T) {
        self.0.push_back(TimedRecord { from_us, to_us, value });
    }

    /// Returns the record of a sample, which has one at most, and forgets the records before.
    pub(crate) fn take_at(&mut self, sample_us: i64) -> Option<T> {
        // V8 adds a microsecond to its clock.
        let taken_us = sample_us - 1;
        while self.0.front().is_some_and(|record| record.from_us <= taken_us) {
            let record = self.0.pop_front()?;
            if record.to_us >= taken_us {
                return Some(record.value);
            }
        }
        None
    }

    /// Forgets the records from before a time, microseconds.
    pub(crate) fn forget_before(&mut self, us: i64) {
        while self.0.front().is_some_and(|record| record.to_us < us) {
            self.0.pop_front();
        }
    }

    /// Returns what was read with the samples that have not come yet.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|record| &record.value)
    }

    /// Forgets all records.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
