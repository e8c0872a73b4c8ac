//! Passes over a window, between the sampler and the call tree.

pub(crate) mod idle;
mod inlined;
pub(crate) mod native_names;
pub(crate) mod overlap;
pub(crate) mod passes;
pub(crate) mod profiler_frames;
pub(crate) mod timed_records;
mod unseen_loop;
pub(crate) mod worker_name;
