//! The sums of processes: times of threads, CPU times, and which processes only start others.

pub(crate) mod cpu;
pub(crate) mod launchers;
pub(crate) mod sums;
pub(crate) mod times;
