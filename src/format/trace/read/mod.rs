//! Reads trace events into processes with their threads and profiles.

pub(crate) mod process_names;
mod reader;
mod side_events;

pub(crate) use self::reader::TraceReader;
