//! How much threads worked.

use std::mem;

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};

use cpu_prof_core::format::trace::event_names::COUNTERS;

/// The time that each thread of the trace spent on a core, by process and thread.
#[derive(Debug, Default)]
pub struct ThreadCpus(FxHashMap<(u32, u32), ThreadCpu>);

/// The time that a thread spent on a core.
#[derive(Debug)]
struct ThreadCpu {
    /// Sum, microseconds.
    sum_us: u64,
    /// Last value of the thread's counter, microseconds.
    counter_us: u64,
}

impl ThreadCpus {
    /// Reads the counter of a thread, if the event has one. What the thread did before a recording does
    /// not count.
    pub fn event(&mut self, thread: (u32, u32), name: &[u8], event: &[u8]) {
        if !COUNTERS.contains(&name) {
            return;
        }
        let Some(now_us) = counter_us(event) else { return };
        let cpu = self.0.entry(thread).or_insert(ThreadCpu { sum_us: 0, counter_us: now_us });
        let last_us = mem::replace(&mut cpu.counter_us, now_us);
        if name != COUNTERS[0] {
            cpu.sum_us = cpu.sum_us.saturating_add(now_us.saturating_sub(last_us));
        }
    }

    /// Returns the processes whose main threads are known to have worked little beside the busiest.
    pub(crate) fn minor_processes(&self) -> FxHashSet<u32> {
        /// The busiest main thread has worked more than so many times as long.
        const TIMES: u64 = 10;
        let main = self.0.iter().filter(|((_, tid), _)| *tid == 0);
        let known = main.map(|((pid, _), cpu)| (*pid, cpu.sum_us));
        let most_us = known.clone().map(|(_, us)| us).max().unwrap_or_default();
        known.filter(|(_, us)| us.saturating_mul(TIMES) < most_us).map(|(pid, _)| pid).collect()
    }
}

/// Returns the thread's counter in an event of ours: microseconds.
fn counter_us(event: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"cpuUs\":";
    let rest = &event[memmem::find(event, KEY)? + KEY.len()..];
    let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(&rest[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_from_the_start_of_each_recording() {
        let event = |us: u64| format!("{{\"args\":{{\"data\":{{\"cpuUs\":{us},\"waitUs\":1}}}}}}");
        let mut cpus = ThreadCpus::default();
        for (name, us) in
            [(COUNTERS[0], 100), (COUNTERS[1], 150), (COUNTERS[0], 400), (COUNTERS[2], 470)]
        {
            cpus.event((1, 0), name, event(us).as_bytes());
        }
        cpus.event((1, 0), COUNTERS[1], b"{}");
        assert_eq!(cpus.0[&(1, 0)].sum_us, 120);
    }

    #[test]
    fn minor_processes_worked_less_than_a_tenth() {
        let mut cpus = ThreadCpus::default();
        for (pid, cpu_us) in [(1, 10_001), (2, 1000), (3, 1001), (4, 0)] {
            for (name, us) in [(COUNTERS[0], 0), (COUNTERS[2], cpu_us)] {
                cpus.event((pid, 0), name, format!("{{\"cpuUs\":{us}}}").as_bytes());
            }
        }
        cpus.event((5, 0), b"ProfileChunk", b"{}");
        let mut minor: Vec<u32> = cpus.minor_processes().into_iter().collect();
        minor.sort_unstable();
        assert_eq!(minor, [2, 4]);
    }
}
