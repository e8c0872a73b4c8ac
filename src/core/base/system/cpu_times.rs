//! The CPU time of a thread and its process, read by any thread of the process.

use serde::{Deserialize, Serialize};

use super::{
    ThreadClock, children_cpu_us, core_wait_us, process_cpu_us, thread_id, voluntary_switches,
};

/// Counters that only grow. Times are in microseconds. The difference of two readings belongs to the time
/// between them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CpuTimes {
    /// CPU time of the thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<i64>,
    /// Time that the thread was ready to run and waited for a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_us: Option<i64>,
    /// How often the thread has given up its core by itself, to wait for something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<i64>,
    /// CPU time of all threads of the process. Only a main thread has this counter and the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_cpu_us: Option<i64>,
    /// CPU time of the process's children that have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children_cpu_us: Option<i64>,
}

/// The thread whose times are read.
#[derive(Debug)]
pub struct MeasuredThread {
    clock: Option<ThreadClock>,
    /// The system's id.
    id: Option<u32>,
    is_main: bool,
}

impl MeasuredThread {
    /// Returns the calling thread.
    pub fn this(is_main: bool) -> Self {
        Self { clock: ThreadClock::of_this_thread(), id: thread_id(), is_main }
    }

    /// Returns the system's id of the thread; none if the system does not tell.
    pub fn id(&self) -> Option<u32> {
        self.id
    }

    /// Returns the CPU time of the thread, microseconds.
    pub fn cpu_us(&self) -> Option<i64> {
        self.clock.as_ref()?.cpu_us()
    }

    /// Returns all counters.
    pub fn times(&self) -> CpuTimes {
        CpuTimes {
            cpu_us: self.cpu_us(),
            wait_us: self.id.and_then(core_wait_us),
            switches: self.id.and_then(voluntary_switches),
            process_cpu_us: self.is_main.then(process_cpu_us).flatten(),
            children_cpu_us: self.is_main.then(children_cpu_us).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    #[test]
    fn the_time_of_a_busy_thread_grows() {
        let thread = MeasuredThread::this(true);
        let before = thread.times();
        let end = Instant::now() + Duration::from_millis(30);
        while Instant::now() < end {
            black_box(0);
        }
        let (cpu, wait) = std::thread::spawn(move || {
            let after = thread.times();
            assert!(after.process_cpu_us > before.process_cpu_us);
            assert!(after.children_cpu_us >= before.children_cpu_us);
            (
                after.cpu_us.zip(before.cpu_us).map(|(after, before)| after - before),
                after.wait_us.zip(before.wait_us).map(|(after, before)| after - before),
            )
        })
        .join()
        .unwrap();
        // The thread ran or waited for a core all the time.
        assert!(cpu.unwrap() > 0);
        assert!(cpu.unwrap() + wait.unwrap_or(30_000) > 20_000, "{cpu:?} {wait:?}");
    }

    #[test]
    fn a_thread_that_has_ended_has_no_times() {
        let thread = std::thread::spawn(|| MeasuredThread::this(false)).join().unwrap();
        // The system removes the thread soon after the join.
        let deadline = Instant::now() + Duration::from_secs(10);
        while thread.times() != CpuTimes::default() {
            assert!(Instant::now() < deadline, "{:?}", thread.times());
            std::thread::yield_now();
        }
    }
}
