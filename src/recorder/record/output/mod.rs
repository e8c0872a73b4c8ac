//! The files of a recording, and what is written into them.

pub(crate) mod complete_segment;
mod core_waits;
pub(crate) mod files;
mod held_segments;
mod kept_history;
pub(crate) mod live_file;
mod native_threads;
mod program_events;
pub(crate) mod recording_writer;
pub(crate) mod segments;
pub(crate) mod side_events;
pub(crate) mod totals;
pub(crate) mod written_time;
