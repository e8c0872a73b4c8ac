//! A session by its processes: which only start others, times of threads, CPU times, and the sums of these.

pub(crate) mod cpu;
pub(crate) mod launchers;
pub(crate) mod session_view;
pub(crate) mod sums;
pub(crate) mod times;
