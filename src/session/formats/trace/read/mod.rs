//! Reads trace events into processes with their threads and profiles.

mod finished;
mod open_profile;
pub mod process_names;
pub mod reader;
mod series_events;
mod side_events;

pub use self::reader::TraceReader;
