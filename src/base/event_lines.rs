//! The text between the events of a trace file, and behind the last of them: an event a line.

/// Text between two events.
pub(crate) const SEPARATOR: &[u8] = b",\n";

/// Text that closes the list of events and the file's object.
pub(crate) const FOOTER: &[u8] = b"\n]}";
