//! The text between and after the events of a trace file, which holds one event per line.

/// Text between two events.
pub const SEPARATOR: &[u8] = b",\n";

/// Text that closes the list of events and the file's object.
pub const FOOTER: &[u8] = b"\n]}";
