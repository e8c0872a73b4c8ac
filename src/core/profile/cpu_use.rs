//! The system's count of what a recorded thread did.

use serde::{Deserialize, Serialize};

use crate::base::system::cpu_times::CpuTimes;

/// The system's count of a thread's time, microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuUse {
    /// Time on a core.
    pub cpu_us: f64,
    /// Time of being ready to run and waiting for a core; none if the system does not tell.
    pub wait_us: Option<f64>,
    /// Time on cores of all threads of the process; none for a thread that is not a main thread.
    pub process_cpu_us: Option<f64>,
    /// Counters at the last reading.
    pub last: CpuTimes,
}

/// What threads of one name used in a time, of those that run no JavaScript. In JSON a list of the three.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeUse(
    /// Name; empty for threads that have taken none.
    pub String,
    /// Count of the threads that ran.
    pub u32,
    /// CPU time of all of them, microseconds.
    pub i64,
);

/// What is known of the programs under a recorded process that have no recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnrecordedPrograms {
    /// Count of the Node processes among them.
    pub nodes: u32,
    /// CPU time of these, as far as it was seen, microseconds.
    pub nodes_us: u64,
    /// CPU time of all others, as far as it was seen, microseconds.
    pub others_us: u64,
}

impl UnrecordedPrograms {
    /// Returns the Node processes' part of a CPU time that all programs without a recording have used. What was
    /// seen misses the end of each program, so only its shares count.
    pub fn nodes_part_of(self, all_us: u64) -> u64 {
        let seen_us = self.nodes_us as f64 + self.others_us as f64;
        (all_us as f64 * (self.nodes_us as f64 / seen_us.max(1.0))) as u64
    }
}

/// A time of which a thread spent a large part on waiting for a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoreWait {
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
    /// Waiting time, microseconds.
    pub waited_us: i64,
}

/// What native threads used in a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NativeSpan {
    /// Start, microseconds.
    pub from_us: i64,
    /// End, microseconds.
    pub to_us: i64,
    /// The most CPU time first.
    pub threads: Vec<NativeUse>,
}
