//! Where samples come from.

pub mod v8;
