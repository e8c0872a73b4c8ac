//! The files of a recording.

pub(crate) mod appender;
pub(crate) mod complete_segment;
mod held_segments;
mod live_file;
pub(crate) mod output_files;
pub(crate) mod segments;
pub(crate) mod totals;
