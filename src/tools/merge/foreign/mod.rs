//! Traces of other tools.

mod event;
mod page_frames;
mod pids;
mod profiles;
mod seen_threads;
mod spans;
pub(crate) mod trace;
