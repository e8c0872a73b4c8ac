//! What a process used over time, and what its program named, for the page's time line.

use super::json::{PageCollections, PageCpu, PageMemory, PageSeries, PageTimings};
use cpu_prof_core::base::cold_sort::ColdSort;
use cpu_prof_core::base::numbering::FxIndexSet;
use cpu_prof_session::model::Process;
use cpu_prof_session::model::series::{CpuStep, NamedTime};
use cpu_prof_session::model::thread_profile::ThreadProfile;

/// Entries of all lists of one kind on a page.
const MAX_POINTS: usize = 40_000;
/// The most entries of a list: more than a screen has pixels.
const MOST_OF_ONE: usize = 2_000;
/// The fewest entries that each list may have.
const LEAST_OF_ONE: usize = 100;

/// The colours of DevTools that a page knows.
const COLORS: [&str; 11] = [
    "primary",
    "primary-light",
    "primary-dark",
    "secondary",
    "secondary-light",
    "secondary-dark",
    "tertiary",
    "tertiary-light",
    "tertiary-dark",
    "warning",
    "error",
];

/// Returns how many entries a list of one process may have.
pub(super) fn most_of_one(processes: usize) -> usize {
    (MAX_POINTS / processes.max(1)).clamp(LEAST_OF_ONE, MOST_OF_ONE)
}

/// Returns the series of a process. `clock_us` is the start of the time line, and `most` the most
/// entries of a list. Adds the texts that the series name to `texts`.
pub(super) fn series(
    process: &Process,
    clock_us: i64,
    most: usize,
    texts: &mut FxIndexSet<String>,
) -> PageSeries {
    let mut timings: Vec<(usize, &NamedTime)> = Vec::new();
    let mut left_out = 0;
    for (thread, profile) in profiles(process) {
        timings.extend(profile.series.timings.iter().map(|timing| (thread, timing)));
        left_out += profile.series.left_out;
    }
    let (mut spans, mut marks): (Vec<_>, Vec<_>) =
        timings.into_iter().partition(|(_, timing)| timing.duration_us.is_some());
    left_out += keep_longest(&mut spans, most, |(_, timing)| timing.duration_us.unwrap_or(0));
    left_out += keep_spread(&mut marks, most);
    let mut page = |list: Vec<_>| page_timings(list, clock_us, texts);
    let (spans, marks) = (page(spans), page(marks));
    PageSeries {
        memory: memory(process, clock_us, most),
        cpu: cpu(process, clock_us, most),
        collections: collections(process, clock_us, most),
        marks,
        spans,
        timings_left_out: left_out,
    }
}

/// Returns the recordings of a process, each with the index of its thread.
fn profiles(process: &Process) -> impl Iterator<Item = (usize, &ThreadProfile)> {
    let threads = process.threads.iter().enumerate();
    threads.flat_map(|(index, thread)| thread.profiles.iter().map(move |each| (index, each)))
}

/// Returns the memory: the sum of the threads' heaps, and the resident memory.
fn memory(process: &Process, clock_us: i64, most: usize) -> Option<PageMemory> {
    // Times with the thread, its heap and the resident memory. A thread that has ended has no heap.
    let mut points: Vec<(i64, usize, u64, Option<u64>)> = Vec::new();
    for (thread, profile) in profiles(process) {
        let told = profile.series.memory.iter();
        points.extend(told.map(|(us, memory)| (*us, thread, memory.heap_used, memory.rss)));
        if !profile.series.memory.is_empty() && profile.has_ended {
            points.push((profile.end_us, thread, 0, None));
        }
    }
    points.sort_by_key(|(us, thread, ..)| (*us, *thread));
    let mut heaps = vec![0_u64; process.threads.len()];
    let mut rss = None;
    let mut sums = Vec::with_capacity(points.len());
    for (us, thread, heap, resident) in points {
        heaps[thread] = heap;
        rss = resident.or(rss);
        sums.push((us.saturating_sub(clock_us), heaps.iter().sum::<u64>(), rss));
    }
    // The last point is the end of the process.
    while sums.last().is_some_and(|(_, heap, _)| *heap == 0) {
        sums.pop();
    }
    let mut page = PageMemory::default();
    for group in sums.chunks(sums.len().div_ceil(most).max(1)) {
        let highest = group.iter().max_by_key(|(_, heap, rss)| (*rss, *heap));
        if let Some((us, heap, rss)) = highest {
            page.time_us.push(*us);
            page.heap.push(*heap);
            page.rss.push(*rss);
        }
    }
    (!page.time_us.is_empty()).then_some(page)
}

/// Returns the CPU time, as shares of a core, between the readings of the main thread's counters, which
/// alone tell the time of the whole process.
fn cpu(process: &Process, clock_us: i64, most: usize) -> Option<PageCpu> {
    let main = process.threads.iter().position(|thread| thread.is_main())?;
    let steps = |wanted: usize| {
        profiles(process)
            .filter(move |(thread, _)| *thread == wanted)
            .flat_map(|(_, profile)| &profile.series.cpu)
    };
    let base: Vec<CpuStep> =
        steps(main).filter(|step| step.process_us.is_some()).copied().collect();
    let mut javascript_us: Vec<f64> = base.iter().map(|step| step.thread_us as f64).collect();
    for thread in (0..process.threads.len()).filter(|thread| *thread != main) {
        for step in steps(thread) {
            spread(step, &base, &mut javascript_us);
        }
    }
    let mut page = PageCpu::default();
    let all: Vec<(&CpuStep, f64)> = base.iter().zip(javascript_us).collect();
    for group in all.chunk_by(|(one, _), (next, _)| one.to_us == next.from_us) {
        let parts = all.len().div_ceil(most).max(1);
        for part in group.chunks(parts) {
            let (Some((first, _)), Some((last, _))) = (part.first(), part.last()) else { continue };
            let us = last.to_us.saturating_sub(first.from_us).max(1) as f64;
            let javascript: f64 = part.iter().map(|(_, us)| us).sum();
            let all: i64 = part.iter().filter_map(|(step, _)| step.process_us).sum();
            page.begin_at(first.from_us.saturating_sub(clock_us));
            page.time_us.push(last.to_us.saturating_sub(clock_us));
            page.javascript.push(Some(share(javascript / us)));
            page.native.push(Some(share((all as f64 - javascript) / us)));
        }
    }
    (!page.javascript.is_empty()).then_some(page)
}

impl PageCpu {
    /// Begins a value at a time. Nothing is known of the time since the last value.
    fn begin_at(&mut self, us: i64) {
        match self.time_us.last() {
            Some(last) if *last == us => {}
            Some(_) => {
                self.time_us.push(us);
                self.javascript.push(None);
                self.native.push(None);
            }
            None => self.time_us.push(us),
        }
    }
}

/// Shares the CPU time of a thread out among the times of other steps, which are in order.
fn spread(step: &CpuStep, base: &[CpuStep], sums_us: &mut [f64]) {
    let length_us = step.to_us.saturating_sub(step.from_us).max(1) as f64;
    let first = base.partition_point(|other| other.to_us <= step.from_us);
    for (other, sum_us) in base.iter().zip(sums_us).skip(first) {
        if other.from_us >= step.to_us {
            break;
        }
        let common_us = step.to_us.min(other.to_us) - step.from_us.max(other.from_us);
        *sum_us += step.thread_us as f64 * common_us as f64 / length_us;
    }
}

/// Rounds a share to a thousandth.
fn share(share: f64) -> f64 {
    (share.max(0.0) * 1000.0).round() / 1000.0
}

fn collections(process: &Process, clock_us: i64, most: usize) -> Option<PageCollections> {
    let mut list = Vec::new();
    for (thread, profile) in profiles(process) {
        list.extend(profile.series.collections.iter().map(|collection| (thread, collection)));
    }
    keep_longest(&mut list, most, |(_, collection)| collection.duration_us);
    list.sort_by_key(|(_, collection)| collection.start_us);
    let mut page = PageCollections::default();
    for (thread, collection) in list {
        page.thread.push(thread);
        page.start_us.push(collection.start_us.saturating_sub(clock_us));
        page.length_us.push(collection.duration_us);
        page.major.push(u8::from(collection.is_major));
    }
    (!page.thread.is_empty()).then_some(page)
}

fn page_timings(
    mut list: Vec<(usize, &NamedTime)>,
    clock_us: i64,
    texts: &mut FxIndexSet<String>,
) -> Option<PageTimings> {
    list.sort_by_key(|(_, timing)| timing.start_us);
    let mut page = PageTimings::default();
    let mut text = |text: &str| texts.insert_full(text.to_owned()).0 as i64;
    for (thread, timing) in list {
        page.thread.push(thread);
        page.start_us.push(timing.start_us.saturating_sub(clock_us));
        page.length_us.extend(timing.duration_us);
        page.name.push(text(&timing.name));
        page.track.push(timing.track.as_deref().map_or(-1, &mut text));
        page.group.push(timing.group.as_deref().map_or(-1, &mut text));
        let color = COLORS.into_iter().find(|color| timing.color.as_deref() == Some(color));
        page.color.push(color);
    }
    (!page.thread.is_empty()).then_some(page)
}

/// Keeps the longest entries of a list. Returns the count of the others.
fn keep_longest<T>(list: &mut Vec<T>, most: usize, duration_us: impl Fn(&T) -> i64) -> u64 {
    let others = list.len().saturating_sub(most);
    if others > 0 {
        list.cold_sort_by_key(|entry| std::cmp::Reverse(duration_us(entry)));
        list.truncate(most);
    }
    others as u64
}

/// Keeps entries all over a list. Returns the count of the others.
fn keep_spread<T>(list: &mut Vec<T>, most: usize) -> u64 {
    let before = list.len();
    let step = before.div_ceil(most).max(1);
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        (index - 1) % step == 0
    });
    (before - list.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workers_time_is_spread_over_the_readings_of_the_main_thread() {
        let step =
            |from_us, to_us, thread_us| CpuStep { from_us, to_us, thread_us, process_us: None };
        let base = [step(0, 100, 0), step(100, 200, 0), step(300, 400, 0)];
        let mut sums_us = [0.0; 3];
        spread(&step(50, 350, 60), &base, &mut sums_us);
        assert_eq!(sums_us, [10.0, 20.0, 10.0]);
        spread(&step(400, 500, 60), &base, &mut sums_us);
        assert_eq!(sums_us, [10.0, 20.0, 10.0]);
    }

    #[test]
    fn the_types_have_the_colours() {
        let types = concat!(env!("CARGO_MANIFEST_DIR"), "/../../index.d.ts");
        let text = std::fs::read_to_string(types).unwrap();
        let (_, list) = text.split_once("type EventColor =").unwrap();
        let (list, _) = list.split_once("\n\n").unwrap();
        let told: Vec<&str> = list.split('\'').skip(1).step_by(2).collect();
        assert_eq!(told, COLORS);
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!([0, 1, 40, 100_000].map(most_of_one), [2_000, 2_000, 1_000, 100]);
        let mut list: Vec<i64> = (0..10).collect();
        assert_eq!(keep_spread(&mut list, 4), 6);
        assert_eq!(list, [0, 3, 6, 9]);
        assert_eq!(keep_longest(&mut list, 2, |us| *us), 2);
        assert_eq!(list, [9, 6]);
        assert_eq!(keep_spread(&mut list, 2), 0);
    }
}
