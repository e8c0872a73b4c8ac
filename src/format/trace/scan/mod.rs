//! Finds the events in Trace Event files of any size, whatever state a file is in.
//!
//! The scanner is own code, because JSON parsers stop at the first torn byte, or hold the file in
//! memory. It finds where each event begins and ends, and leaves the contents to others. In an own
//! trace, one event a line, it looks only for the ends of lines; in any other file it follows
//! strings and brackets.

mod buffer;
mod error;
mod scanner;
mod value_shape;

pub(crate) use self::error::ScanError;
pub(crate) use self::scanner::{Item, Scanner};
