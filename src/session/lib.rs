//! What is read back: sessions, and the formats that hold them.

pub mod formats;
pub mod model;
