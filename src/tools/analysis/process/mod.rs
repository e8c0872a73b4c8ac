//! A session by its processes: which only start others, times of threads, CPU times, and the sums of these.

pub mod cpu;
pub mod launchers;
pub mod session_view;
pub mod sums;
pub mod times;
