//! Chooses the slices of a merge: what the user asked for, cut where a part would be too large.

use std::collections::BTreeMap;

use super::merger::Merger;
use super::outcome::{MergeOptions, MergeProgress};
use super::slices::OutputSlices;
use crate::files::input::Input;
use crate::format::trace::head::EventHead;
use crate::format::trace::scan::{Item, Scanner};
use crate::read::sniff::RecordingFile;

/// Time between two places where a slice can be cut, microseconds.
const STEP_US: i64 = 100_000;

/// Reads all times, and returns the slices and the length of the whole in microseconds.
pub(super) fn choose_slices(
    merger: &Merger<'_>,
    others: &[usize],
    options: &MergeOptions,
) -> (OutputSlices, i64) {
    let mut times = EventTimes::default();
    for process in &merger.processes.list {
        for recording in process.threads.values().flatten() {
            let input = &merger.inputs[recording.input];
            times.counts = process.clock == 0;
            if recording.is_cpuprofile {
                times.add_cpuprofile(recording, text_bytes(input, merger.progress));
            } else {
                times.add_trace(input, merger.progress);
            }
        }
    }
    times.counts = merger.processes.list.is_empty();
    for index in others {
        times.add_trace(&merger.inputs[*index], merger.progress);
    }
    let (first, last) = times.span.get();
    // The first recording starts before its first event.
    let own = merger.processes.list.iter().filter(|process| process.clock == 0);
    let start = own.map(|process| process.start_us).min().unwrap_or(first);
    let from_us = options.from_us.map(|from| start.saturating_add(from));
    let to_us = options.to_us.map(|to| start.saturating_add(to));
    let mut slices = match options.split {
        // Names and call trees are repeated in each part.
        Some(max_bytes) => times.histogram.cut(from_us, to_us, max_bytes / 10 * 9),
        None => OutputSlices::one(from_us, to_us),
    };
    slices.has_zero = times.span.is_from_zero();
    (slices, last - first)
}

/// The times of all events.
#[derive(Default)]
struct EventTimes {
    histogram: Histogram,
    span: TimeSpan,
    /// Whether the events that are read now count for the span. Those of other clocks do not.
    counts: bool,
}

impl EventTimes {
    fn add(&mut self, ts: i64, bytes: usize) {
        self.histogram.add(ts, bytes);
        if self.counts {
            self.span.add(ts);
        }
    }

    /// Reads the times of a trace. Damage is noted later, when the trace is copied.
    fn add_trace(&mut self, input: &Input, progress: &MergeProgress) {
        let Ok(reader) = input.open_counted(&progress.done) else { return };
        let mut scanner = Scanner::new(reader);
        while let Ok(Some(item)) = scanner.next() {
            if let Item::Event(event) = item
                && let Some(head) = EventHead::of(event)
                && head.phase != b'M'
                && let Some(ts) = head.ts(event)
            {
                self.add(ts, event.len());
            }
        }
    }

    /// Spreads the size of a `.cpuprofile` evenly over its time.
    fn add_cpuprofile(&mut self, recording: &RecordingFile, bytes: usize) {
        const PIECES: i64 = 1000;
        let length = recording.end_us.map_or(0, |end| end - recording.start_us);
        for piece in 0..PIECES {
            let ts = recording.start_us + length * piece / PIECES;
            self.add(ts, bytes / PIECES as usize);
        }
    }
}

/// Returns the size of a `.cpuprofile`'s text, about the size of the events in the trace.
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

/// Bytes of events by time.
#[derive(Debug, Default)]
struct Histogram {
    bytes: BTreeMap<i64, u64>,
}

impl Histogram {
    fn add(&mut self, ts: i64, bytes: usize) {
        *self.bytes.entry(ts.div_euclid(STEP_US)).or_default() += bytes as u64;
    }

    /// Cuts a slice into slices of at most `max_bytes`, as far as possible.
    fn cut(&self, from_us: Option<i64>, to_us: Option<i64>, max_bytes: u64) -> OutputSlices {
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

    /// Returns whether the times count from 0. The times of a system's clock are far from 0.
    fn is_from_zero(&self) -> bool {
        const NEAR_US: i64 = 60_000_000;
        self.has_zero && self.range.is_none_or(|(first, _)| first < NEAR_US)
    }

    fn get(&self) -> (i64, i64) {
        let (first, last) = self.range.unwrap_or_default();
        (if self.is_from_zero() { 0 } else { first }, last)
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
