//! Label sets on their way from the signal handler to the writer thread.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A sample's label set, as the signal handler has found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LabelRecord {
    /// Time before V8's handler: CLOCK_MONOTONIC, microseconds.
    pub from_us: i64,
    /// Time after V8's handler: CLOCK_MONOTONIC, microseconds.
    pub to_us: i64,
    /// Id of the label set; `NO_LABELS` for none.
    pub labels: u32,
}

/// Records of one thread. The thread's signal handler adds, and the writer thread takes: neither waits for
/// the other.
pub(crate) struct LabelRing {
    /// Start of the records: CLOCK_MONOTONIC, microseconds.
    pub start_us: i64,
    /// Two words for a record: its start, and its length with the label set.
    words: Box<[[AtomicU64; 2]]>,
    /// Count of the records that were added.
    added: AtomicUsize,
    /// Count of the records that were taken.
    taken: AtomicUsize,
    /// Whether what the handler finds cannot be trusted.
    is_wrong: AtomicBool,
    /// Whether the handler was set at some time of the recording. If not, only the handler of others can call it.
    is_set: AtomicBool,
}

impl LabelRing {
    /// Creates a ring that has room for `capacity` records.
    pub(crate) fn new(start_us: i64, capacity: usize) -> Self {
        let word = || [const { AtomicU64::new(0) }; 2];
        Self {
            start_us,
            words: std::iter::repeat_with(word).take(capacity.max(1)).collect(),
            added: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            is_wrong: AtomicBool::new(false),
            is_set: AtomicBool::new(false),
        }
    }

    /// Adds a record; a full ring refuses. Only the thread may call this, also in a signal handler.
    pub(crate) fn add(&self, record: LabelRecord) {
        let added = self.added.load(Ordering::Relaxed);
        let waiting = added.wrapping_sub(self.taken.load(Ordering::Acquire));
        if waiting >= self.words.len() || self.is_wrong() {
            return;
        }
        let length_us = record.to_us.wrapping_sub(record.from_us).clamp(0, u32::MAX.into());
        if let Some([start, rest]) = self.words.get(added % self.words.len()) {
            start.store(record.from_us as u64, Ordering::Relaxed);
            rest.store((length_us as u64) << 32 | u64::from(record.labels), Ordering::Relaxed);
        }
        self.added.store(added.wrapping_add(1), Ordering::Release);
    }

    /// Takes the records, the oldest first. Only the writer thread may call this.
    pub(crate) fn take(&self, mut each: impl FnMut(LabelRecord)) {
        let added = self.added.load(Ordering::Acquire);
        let mut taken = self.taken.load(Ordering::Relaxed);
        while taken != added {
            if let Some([start, rest]) = self.words.get(taken % self.words.len()) {
                let from_us = start.load(Ordering::Relaxed) as i64;
                let rest = rest.load(Ordering::Relaxed);
                let to_us = from_us + (rest >> 32) as i64;
                each(LabelRecord { from_us, to_us, labels: rest as u32 });
            }
            taken = taken.wrapping_add(1);
        }
        self.taken.store(taken, Ordering::Release);
    }

    /// Calls `each` with the label sets of the records that were not taken yet. Only the thread may call this: a
    /// record that its signal handler adds meanwhile can take the place of one that was taken, and may be seen.
    pub(crate) fn each_waiting(&self, mut each: impl FnMut(u32)) {
        let added = self.added.load(Ordering::Relaxed);
        let mut at = self.taken.load(Ordering::Acquire);
        while at != added {
            if let Some([_, rest]) = self.words.get(at % self.words.len()) {
                each(rest.load(Ordering::Relaxed) as u32);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Notes that the handler was set.
    pub(crate) fn handler_was_set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns whether the handler was set at some time of the recording.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Notes that what the handler finds cannot be trusted. Nothing is added from now on.
    pub(crate) fn give_up(&self) {
        self.is_wrong.store(true, Ordering::Relaxed);
    }

    /// Returns whether what the handler finds cannot be trusted.
    pub(crate) fn is_wrong(&self) -> bool {
        self.is_wrong.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(ring: &LabelRing) -> Vec<(i64, i64, u32)> {
        let mut list = Vec::new();
        ring.take(|record| list.push((record.from_us, record.to_us, record.labels)));
        list
    }

    #[test]
    fn records_come_back_in_order_and_a_full_ring_keeps_the_oldest() {
        let ring = LabelRing::new(0, 3);
        let add = |n: i64| ring.add(LabelRecord { from_us: n, to_us: n + 5, labels: n as u32 });
        for round in 0..4 {
            (0..2).for_each(|n| add(10 * round + n));
            assert_eq!(
                taken(&ring),
                [0, 1].map(|n| (10 * round + n, 10 * round + n + 5, (10 * round + n) as u32))
            );
        }
        (0..5).for_each(add);
        let mut waiting = Vec::new();
        ring.each_waiting(|labels| waiting.push(labels));
        assert_eq!(waiting, [0, 1, 2]);
        assert_eq!(taken(&ring).len(), 3);
        ring.each_waiting(|labels| panic!("{labels} was taken"));
        assert_eq!(taken(&ring), []);
    }

    #[test]
    fn a_ring_that_is_wrong_takes_nothing_more() {
        let ring = LabelRing::new(0, 3);
        ring.give_up();
        ring.add(LabelRecord { from_us: 0, to_us: 1, labels: 1 });
        assert_eq!(taken(&ring), []);
    }

    #[test]
    fn both_sides_work_at_the_same_time() {
        let ring = LabelRing::new(0, 64);
        std::thread::scope(|scope| {
            let adder = scope.spawn(|| {
                let mut n = 0;
                while n < 200_000 {
                    ring.add(LabelRecord { from_us: n, to_us: n, labels: n as u32 });
                    n += 1;
                }
            });
            let mut last = -1;
            while !adder.is_finished()
                || ring.added.load(Ordering::Relaxed) != ring.taken.load(Ordering::Relaxed)
            {
                ring.take(|record| {
                    assert!(record.from_us > last && record.labels == record.from_us as u32);
                    last = record.from_us;
                });
            }
            assert!(last >= 63);
        });
    }
}
