//! Reads trace events into processes with their threads and profiles.

mod process_names;
mod reader;

pub(crate) use self::reader::TraceReader;
