//! The bytes of the trace by thread, to tell what would make the trace smaller.

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::thread_cpu::{ThreadCpu, count_idle};
use cpu_prof_core::format::trace::event::event_names::COUNTERS;

/// The count of nodes grows as this power of the count of samples (measured: 0.43 to 0.46 for tsc with
/// intervals from 100 to 20,000 µs).
const NODE_GROWTH: f64 = 0.43;

/// One chunk in so many is looked into.
const MEASURED: u64 = 16;

/// The sizes of all threads.
#[derive(Debug, Default)]
pub(crate) struct TraceSizes {
    threads: FxHashMap<(u32, u32), ThreadSize>,
    /// Longest interval of a recording, microseconds; 0 if none is known.
    interval_us: u64,
    /// Count of chunks.
    chunks: u64,
    /// Bytes of chunks.
    chunk_bytes: u64,
    /// Bytes of the chunks that were looked into, and of the samples in them.
    measured: (u64, u64),
}

/// The size of a thread.
#[derive(Debug, Default)]
struct ThreadSize {
    bytes: u64,
    cpu: ThreadCpu,
}

/// Sizes that a smaller trace would have, bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SmallerSizes {
    /// An interval in microseconds, and the size with this interval.
    pub interval: Option<(u64, u64)>,
    /// Without idle threads.
    pub without_idle: Option<u64>,
    /// Pid and size of the largest process, where it is not the only one.
    pub process: Option<(u32, u64)>,
    /// One second of the trace.
    pub second: Option<u64>,
}

impl TraceSizes {
    /// Notes the facts about a process.
    pub(crate) fn process(&mut self, facts: &Map<String, Value>) {
        let interval_us = facts.get("intervalUs").and_then(Value::as_u64).unwrap_or_default();
        self.interval_us = self.interval_us.max(interval_us);
    }

    /// Adds an event of a thread.
    pub(crate) fn event(&mut self, (pid, tid): (u32, u32), name: &[u8], event: &[u8]) {
        let bytes = event.len() as u64;
        let size = self.threads.entry((pid, tid)).or_default();
        size.bytes += bytes;
        if name == b"ProfileChunk" {
            if self.chunks.is_multiple_of(MEASURED) {
                let nodes = memmem::find(event, b"\"samples\":[").unwrap_or(event.len()) as u64;
                self.measured.0 += bytes;
                self.measured.1 += bytes - nodes;
            }
            self.chunks += 1;
            self.chunk_bytes += bytes;
        } else {
            self.counters((pid, tid), name, event);
        }
    }

    /// Reads the counters of a thread, if the event has any.
    pub(crate) fn counters(&mut self, thread: (u32, u32), name: &[u8], event: &[u8]) {
        if COUNTERS.contains(&name) {
            self.threads.entry(thread).or_default().cpu.read(name, event);
        }
    }

    /// Returns the processes whose main threads are known to have worked little beside the busiest.
    pub(crate) fn minor_processes(&self) -> FxHashSet<u32> {
        /// The busiest main thread has worked more than so many times as long.
        const TIMES: u64 = 10;
        let main = self.threads.iter().filter(|((_, tid), _)| *tid == 0);
        let known = main.filter_map(|((pid, _), size)| Some((*pid, size.cpu.sum_us?)));
        let most_us = known.clone().map(|(_, us)| us).max().unwrap_or_default();
        known.filter(|(_, us)| us.saturating_mul(TIMES) < most_us).map(|(pid, _)| pid).collect()
    }

    /// Returns the sizes of smaller traces. `bytes` and `length_us` are those of the trace, `wanted` is a size that is
    /// small enough, and `interval_us` the time between two samples.
    pub(crate) fn smaller(&self, bytes: u64, length_us: i64, wanted: u64) -> SmallerSizes {
        let counted: u64 = self.threads.values().map(|size| size.bytes).sum();
        // Threads that were rewritten are not counted.
        let scaled = |part: u64| {
            let share = part as f64 / counted.max(1) as f64;
            (bytes as f64 * share) as u64
        };
        let samples = self.chunk_bytes * self.measured.1 / self.measured.0.max(1);
        let nodes = self.chunk_bytes - samples;
        let with_interval = |factor: u64| {
            let nodes_left = nodes as f64 / (factor as f64).powf(NODE_GROWTH);
            scaled(counted - nodes - samples + samples / factor + nodes_left as u64)
        };
        let interval_us = if self.interval_us == 0 { 1000 } else { self.interval_us };
        let interval = [2, 5, 10, 20, 50].into_iter().find_map(|factor| {
            let size = with_interval(factor);
            (size <= wanted || factor == 50).then_some((interval_us * factor, size))
        });
        let mut processes: FxHashMap<u32, u64> = FxHashMap::default();
        for ((pid, _), size) in &self.threads {
            *processes.entry(*pid).or_default() += size.bytes;
        }
        let largest = processes.iter().max_by_key(|(pid, bytes)| (**bytes, **pid));
        let mut by_cpu: Vec<&ThreadSize> = self.threads.values().collect();
        by_cpu.sort_by_key(|size| size.cpu.order());
        let idle = count_idle(by_cpu.iter().map(|size| size.cpu));
        let idle_bytes: u64 = by_cpu[..idle].iter().map(|size| size.bytes).sum();
        // A tenth is not worth a suggestion.
        let is_worth = |size: &u64| *size <= bytes / 10 * 9;
        SmallerSizes {
            interval: interval.filter(|(_, size)| is_worth(size)),
            without_idle: Some(scaled(counted - idle_bytes)).filter(is_worth),
            second: u64::try_from(length_us)
                .ok()
                .and_then(|us| (bytes * 1000).checked_div(us / 1000)),
            process: largest
                .map(|(pid, bytes)| (*pid, scaled(*bytes)))
                .filter(|(_, size)| is_worth(size)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds chunks of 100 bytes of nodes and 300 bytes of samples to a thread, and its time on a core.
    fn add(sizes: &mut TraceSizes, pid: u32, chunks: usize, cpu_us: u64) {
        let chunk = format!("{}\"samples\":[{}", "n".repeat(100), "1".repeat(289));
        for _ in 0..chunks {
            sizes.event((pid, 0), b"ProfileChunk", chunk.as_bytes());
        }
        for (name, us) in [(COUNTERS[0], 0), (COUNTERS[2], cpu_us)] {
            sizes.event((pid, 0), name, format!("{{\"cpuUs\":{us}}}").as_bytes());
        }
    }

    #[test]
    fn minor_processes_worked_less_than_a_tenth() {
        let mut sizes = TraceSizes::default();
        for (pid, cpu_us) in [(1, 10_001), (2, 1000), (3, 1001), (4, 0)] {
            add(&mut sizes, pid, 1, cpu_us);
        }
        sizes.event((5, 0), b"ProfileChunk", b"{}");
        let mut minor: Vec<u32> = sizes.minor_processes().into_iter().collect();
        minor.sort_unstable();
        assert_eq!(minor, [2, 4]);
    }

    #[test]
    fn sizes_are_those_without_samples_threads_and_processes() {
        let mut sizes = TraceSizes::default();
        add(&mut sizes, 1, 1000, 90);
        add(&mut sizes, 2, 3000, 99_000);
        let near = |size: u64, expected: u64| {
            assert!(size.abs_diff(expected) < expected / 100, "{size}, not {expected}");
        };
        let smaller = sizes.smaller(1_600_000, 4_000_000, 800_000);
        let (interval, size) = smaller.interval.unwrap();
        assert_eq!(interval, 5000);
        near(size, 440_000);
        near(smaller.without_idle.unwrap(), 1_200_000);
        assert_eq!(smaller.second, Some(400_000));
        assert_eq!(smaller.process.unwrap().0, 2);
        near(smaller.process.unwrap().1, 1_200_000);
        // The smallest of the sizes, where none is small enough.
        assert_eq!(sizes.smaller(1_600_000, 0, 1000).interval.unwrap().0, 50_000);
    }

    #[test]
    fn a_suggestion_that_changes_little_is_none() {
        let mut sizes = TraceSizes::default();
        add(&mut sizes, 1, 2, 9);
        add(&mut sizes, 2, 3000, 99_000);
        let smaller = sizes.smaller(1_200_000, 0, 800_000);
        assert_eq!((smaller.without_idle, smaller.process), (None, None));
    }
}
