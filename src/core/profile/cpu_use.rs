//! The system's count of what a recorded thread did.

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
