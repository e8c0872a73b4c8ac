//! Finds the events in Trace Event files of any size, whatever state a file is in.
//!
//! `Scanner` is our code, because JSON parsers stop at the first torn byte, or hold the file in
//! memory. `Scanner` finds where each event begins and ends. `SoundItems` also checks the events, and
//! is what all tools read: events that break a rule are repaired or left out, for all tools alike.

mod buffer;
mod error;
pub mod scanner;
mod sound;
mod value_shape;

pub use self::error::{MAX_VALUE_BYTES, ScanError};
pub use self::scanner::{Item, Scanner};
pub use self::sound::{SoundItem, SoundItems};
