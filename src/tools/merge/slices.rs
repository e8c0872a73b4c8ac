//! Which file an event goes into, by its time.

use std::collections::BTreeMap;

use super::{Merge, MergeOptions, MergeProgress};
use crate::files::input::Input;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::{Item, Scanner};

/// A piece of this length is never cut in two, microseconds.
const STEP_US: i64 = 100_000;

/// Stretches of time, one for each file, from the first on: half open, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputSlices {
    /// One more than there are files.
    edges: Vec<i64>,
    /// Whether 0 is a time like others; mostly it stands for none.
    pub has_zero: bool,
}

impl OutputSlices {
    /// One file.
    pub(super) fn one(from_us: Option<i64>, to_us: Option<i64>) -> Self {
        let edges = vec![from_us.unwrap_or(i64::MIN), to_us.unwrap_or(i64::MAX)];
        Self { edges, has_zero: false }
    }

    /// How many files there are.
    pub(super) fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// Whether everything goes into one file.
    pub(super) fn is_everything(&self) -> bool {
        self.edges == [i64::MIN, i64::MAX]
    }

    /// The file for this time.
    pub(super) fn part(&self, ts: i64) -> Option<usize> {
        self.after(self.passed(ts))
    }

    /// The file after so many edges.
    pub(super) fn after(&self, edges: usize) -> Option<usize> {
        (edges > 0 && edges < self.edges.len()).then(|| edges - 1)
    }

    /// How many edges lie at or before this time: as many as there are files up to its own.
    pub(super) fn passed(&self, ts: i64) -> usize {
        self.edges.partition_point(|edge| *edge <= ts)
    }

    /// Where a file begins; for one more than there are, where the last one ends.
    pub(super) fn edge(&self, number: usize) -> Option<i64> {
        self.edges.get(number).copied()
    }

    /// The time that tells the file of something that lasts: its beginning, or the first file's.
    pub(super) fn of_span(&self, ts: i64, dur: i64) -> i64 {
        let first = self.edges[0];
        let is_cut = ts < first && ts.saturating_add(dur) >= first;
        if is_cut { first } else { ts }
    }

    /// When the file begins, or `start` if that is later.
    pub(super) fn start(&self, part: usize, start: i64) -> i64 {
        self.edges[part].max(start)
    }
}

/// How much there is at what time.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    bytes: BTreeMap<i64, u64>,
}

impl Histogram {
    /// Adds an event.
    pub(super) fn add(&mut self, ts: i64, bytes: usize) {
        *self.bytes.entry(ts.div_euclid(STEP_US)).or_default() += bytes as u64;
    }

    /// Cuts a window into pieces of at most `most` bytes, as far as possible.
    pub(super) fn cut(&self, from_us: Option<i64>, to_us: Option<i64>, most: u64) -> OutputSlices {
        let mut windows = OutputSlices::one(from_us, to_us);
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

/// The first and the last time.
#[derive(Debug, Default)]
struct TimeSpan {
    range: Option<(i64, i64)>,
    has_zero: bool,
}

impl TimeSpan {
    fn add(&mut self, ts: i64) {
        self.has_zero |= ts == 0;
        if ts > 0 {
            let (first, last) = self.range.get_or_insert((ts, ts));
            (*first, *last) = (ts.min(*first), ts.max(*last));
        }
    }

    /// Whether the times are counted from 0: a clock is far from it otherwise.
    fn is_from_zero(&self) -> bool {
        const NEAR_US: i64 = 60_000_000;
        self.has_zero && self.range.is_none_or(|(first, _)| first < NEAR_US)
    }

    fn get(&self) -> (i64, i64) {
        let (first, last) = self.range.unwrap_or_default();
        (if self.is_from_zero() { 0 } else { first }, last)
    }
}

impl Merge {
    /// Reads all times, and decides what goes into which file. Gives the first and the last time,
    /// too.
    pub(super) fn choose_slices(
        &self,
        inputs: &[Input],
        others: &[(usize, bool)],
        options: &MergeOptions,
        progress: &MergeProgress,
    ) -> (OutputSlices, (i64, i64)) {
        let mut histogram = Histogram::default();
        let mut span = TimeSpan::default();
        let mut add = |ts: i64, bytes: usize, counts: bool| {
            histogram.add(ts, bytes);
            if counts {
                span.add(ts);
            }
        };
        let list = &self.processes.list;
        for process in list {
            for recording in process.threads.values().flatten() {
                let (input, counts) = (&inputs[recording.input], process.clock == 0);
                if recording.is_cpuprofile {
                    const PIECES: i64 = 1000;
                    let length = recording.end_us.map_or(0, |end| end - recording.start_us);
                    let bytes = text_bytes(input, progress);
                    for piece in 0..PIECES {
                        let ts = recording.start_us + length * piece / PIECES;
                        add(ts, bytes / PIECES as usize, counts);
                    }
                } else {
                    each_time(input, progress, |ts, bytes| add(ts, bytes, counts));
                }
            }
        }
        for (number, _) in others {
            each_time(&inputs[*number], progress, |ts, bytes| add(ts, bytes, list.is_empty()));
        }
        let (first, last) = span.get();
        let has_zero = span.is_from_zero();
        // The first recording's start, even before its first event.
        let own = list.iter().filter(|process| process.clock == 0);
        let first = own.map(|process| process.start_us).min().unwrap_or(first);
        let from_us = options.from_us.map(|from| first.saturating_add(from));
        let to_us = options.to_us.map(|to| first.saturating_add(to));
        let windows = match options.split {
            // What begins anew in each file takes room too.
            Some(most) => histogram.cut(from_us, to_us, most / 10 * 9),
            None => OutputSlices::one(from_us, to_us),
        };
        (OutputSlices { has_zero, ..windows }, (first, last))
    }
}

/// How long a `.cpuprofile`'s text is, about as long as what becomes of it.
fn text_bytes(input: &Input, progress: &MergeProgress) -> usize {
    let Ok(reader) = input.open_counted(&progress.done) else { return 0 };
    let mut scanner = Scanner::new(reader);
    let mut bytes = 0;
    while let Ok(Some(item)) = scanner.next() {
        if let Item::Member { value, .. } = item {
            bytes += value.len();
        }
    }
    bytes
}

fn each_time(input: &Input, progress: &MergeProgress, mut f: impl FnMut(i64, usize)) {
    let Ok(reader) = input.open_counted(&progress.done) else { return };
    let mut scanner = Scanner::new(reader);
    // What is wrong with a file is said when it is copied.
    while let Ok(Some(item)) = scanner.next() {
        if let Item::Event(event) = item
            && let Some(head) = EventHead::of(event)
            && head.phase != b'M'
            && let Some(ts) = head.ts(event)
        {
            f(ts, event.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_one_file() {
        let windows = OutputSlices { edges: vec![10, 20, 30], has_zero: false };
        assert_eq!(windows.count(), 2);
        let parts = [9, 10, 19, 20, 29, 30].map(|ts| windows.part(ts));
        assert_eq!(parts, [None, Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(
            [(5, 4), (5, 5), (25, 99)].map(|(ts, dur)| windows.of_span(ts, dur)),
            [5, 10, 25]
        );
        assert_eq!((windows.start(0, 15), windows.start(1, 15)), (15, 20));
        let all = OutputSlices::one(None, None);
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
