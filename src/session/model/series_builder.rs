//! Builds the series of a recording.

use std::cmp::Reverse;
use std::mem;

use rustc_hash::FxHashMap;

use super::series::{CollectionSpan, CpuStep, NamedTime, Series};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::system::cpu_times::CpuTimes;
use cpu_prof_core::profile::gc::MemoryUse;
use cpu_prof_core::profile::read_scope::ReadScope;

/// The most entries of a list of collections or timings. Of more, the longest stay.
const MAX_SPANS: usize = 20_000;

/// The most timings that have begun and not ended.
const MAX_OPEN: usize = 20_000;

/// The series of a recording that is being read.
#[derive(Debug, Clone)]
pub struct SeriesBuilder {
    scope: ReadScope,
    series: Series,
    /// Timings that have begun, by their ids.
    open: FxHashMap<String, NamedTime>,
    /// Time and values of the last reading of the counters.
    last_cpu: Option<(i64, CpuTimes)>,
}

impl SeriesBuilder {
    /// Returns the series of a recording of which nothing was read.
    pub fn new(scope: ReadScope) -> Self {
        Self { scope, series: Series::default(), open: FxHashMap::default(), last_cpu: None }
    }

    /// Begins a recording with these counters.
    pub(crate) fn begin_cpu(&mut self, time_us: i64, times: CpuTimes) {
        self.last_cpu = Some((time_us, times));
    }

    /// Reads the counters.
    pub(crate) fn read_cpu(&mut self, time_us: i64, times: CpuTimes) {
        let Some((from_us, last)) = self.last_cpu.replace((time_us, times)) else { return };
        let Some(thread_us) = grown(times.cpu_us, last.cpu_us) else { return };
        let process_us = grown(times.process_cpu_us, last.process_cpu_us);
        let step = CpuStep { from_us, to_us: time_us, thread_us, process_us };
        self.series.cpu.extend(within(step, self.scope));
    }

    /// Adds the memory at a moment.
    pub(crate) fn add_memory(&mut self, time_us: i64, memory: MemoryUse) {
        if self.scope.contains(time_us) {
            self.series.memory.push((time_us, memory));
        }
    }

    /// Adds a collection.
    pub(crate) fn add_collection(&mut self, collection: CollectionSpan) {
        if self.overlaps(collection.start_us, collection.duration_us) {
            let collections = &mut self.series.collections;
            collections.push(collection);
            keep_longest(collections, |collection| collection.duration_us);
        }
    }

    /// Adds a moment or a time.
    pub(crate) fn add_timing(&mut self, timing: NamedTime) {
        if self.overlaps(timing.start_us, timing.duration_us.unwrap_or(0)) {
            let timings = &mut self.series.timings;
            timings.push(timing);
            self.series.left_out += keep_longest(timings, |timing| timing.duration_us.unwrap_or(0));
        }
    }

    /// Notes a timing that begins, until the event of its end.
    pub(crate) fn begin_timing(&mut self, id: &str, timing: NamedTime) {
        if self.open.len() < MAX_OPEN {
            self.open.insert(id.to_owned(), timing);
        }
    }

    /// Ends the timing of this id.
    pub(crate) fn end_timing(&mut self, id: &str, end_us: i64) {
        if let Some(timing) = self.open.remove(id) {
            let duration_us = Some(end_us.saturating_sub(timing.start_us).max(0));
            self.add_timing(NamedTime { duration_us, ..timing });
        }
    }

    /// Returns the series of a recording that ends at a time. What has not ended lasts until then.
    pub fn finish(mut self, end_us: i64) -> Series {
        for (_, timing) in mem::take(&mut self.open) {
            let duration_us = Some(end_us.saturating_sub(timing.start_us).max(0));
            self.add_timing(NamedTime { duration_us, ..timing });
        }
        let mut series = self.series;
        series.collections.cold_sort_by_key(|collection| collection.start_us);
        let order = |timing: &NamedTime| (timing.start_us, timing.name.clone());
        series.timings.sort_by_cached_key(order);
        series
    }

    fn overlaps(&self, start_us: i64, duration_us: i64) -> bool {
        let end_us = start_us.saturating_add(duration_us);
        start_us <= self.scope.to_us && end_us >= self.scope.from_us
    }
}

/// Returns the part of a step that is in a scope; none if there is no such part.
fn within(step: CpuStep, scope: ReadScope) -> Option<CpuStep> {
    let (from_us, to_us) = (step.from_us.max(scope.from_us), step.to_us.min(scope.to_us));
    let part_us = to_us.saturating_sub(from_us);
    if part_us <= 0 {
        return None;
    }
    let share = part_us as f64 / step.to_us.saturating_sub(step.from_us) as f64;
    let part = |us: i64| (us as f64 * share) as i64;
    let (thread_us, process_us) = (part(step.thread_us), step.process_us.map(part));
    Some(CpuStep { from_us, to_us, thread_us, process_us })
}

fn grown(now: Option<i64>, last: Option<i64>) -> Option<i64> {
    now.zip(last).map(|(now, last)| now.saturating_sub(last).max(0))
}

/// Removes the shorter half of a list that has become twice as long as it may be. Returns the count of
/// the removed entries.
fn keep_longest<T>(list: &mut Vec<T>, duration_us: impl Fn(&T) -> i64) -> u64 {
    if list.len() < 2 * MAX_SPANS {
        return 0;
    }
    list.cold_sort_by_key(|entry| Reverse(duration_us(entry)));
    list.truncate(MAX_SPANS);
    MAX_SPANS as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: ReadScope = ReadScope::ALL;

    fn counters(cpu_us: i64, process_cpu_us: Option<i64>) -> CpuTimes {
        CpuTimes { cpu_us: Some(cpu_us), process_cpu_us, ..CpuTimes::default() }
    }

    #[test]
    fn steps_lie_between_the_readings_of_one_recording() {
        let mut series = SeriesBuilder::new(ALL);
        series.begin_cpu(1_000, counters(50, Some(900)));
        series.read_cpu(2_000, counters(150, Some(1_900)));
        series.begin_cpu(9_000, counters(500, None));
        series.read_cpu(9_500, counters(600, None));
        let step = |from_us, to_us, thread_us, process_us| CpuStep {
            from_us,
            to_us,
            thread_us,
            process_us,
        };
        assert_eq!(
            series.finish(9_500).cpu,
            [step(1_000, 2_000, 100, Some(1_000)), step(9_000, 9_500, 100, None)]
        );
        let mut part = SeriesBuilder::new(ReadScope { from_us: 1_500, to_us: 1_750, ..ALL });
        part.begin_cpu(1_000, counters(50, Some(900)));
        part.read_cpu(2_000, counters(150, Some(1_900)));
        assert_eq!(part.finish(3_000).cpu, [step(1_500, 1_750, 25, Some(250))]);
    }

    #[test]
    fn a_timing_without_an_end_lasts_until_the_end_of_the_recording() {
        let timing = |name: &str, start_us| NamedTime {
            name: name.into(),
            start_us,
            ..NamedTime::default()
        };
        let mut series = SeriesBuilder::new(ALL);
        series.begin_timing("0x1", timing("load", 100));
        series.begin_timing("0x2", timing("parse", 200));
        series.end_timing("0x2", 260);
        series.end_timing("0x9", 260);
        series.add_timing(timing("ready", 150));
        let series = series.finish(1_000);
        let found: Vec<_> =
            series.timings.iter().map(|timing| (&*timing.name, timing.duration_us)).collect();
        assert_eq!(found, [("load", Some(900)), ("ready", None), ("parse", Some(60))]);
    }

    #[test]
    fn of_too_many_spans_the_longest_stay() {
        let mut series = SeriesBuilder::new(ALL);
        for number in 0..2 * MAX_SPANS as i64 {
            let span = CollectionSpan { start_us: number, duration_us: number, is_major: false };
            series.add_collection(span);
        }
        let series = series.finish(0);
        assert_eq!(series.collections.len(), MAX_SPANS);
        assert_eq!(series.collections[0].duration_us, MAX_SPANS as i64);
    }
}
