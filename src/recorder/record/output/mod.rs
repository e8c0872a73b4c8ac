//! What is written into the files of a recording, on the writer thread.

mod core_waits;
mod kept_history;
pub(crate) mod native_threads;
mod program_events;
pub(crate) mod recording_writer;
pub(crate) mod side_events;
pub(crate) mod written_time;
