//! What runs on the recorded thread: start, rotations, stop.

pub(crate) mod armed;
pub(crate) mod conditions;
pub(crate) mod exit_hooks;
pub(crate) mod inspector;
mod next_window;
mod reading;
pub(crate) mod recording;
pub(crate) mod rotation;
mod sampling;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod worker_coverage;
