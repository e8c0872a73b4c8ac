//! What is written into the files of a recording, on the writer thread.

mod kept_history;
pub(crate) mod pace;
pub(crate) mod recording_writer;
mod streamed_trace;
mod written_time;
