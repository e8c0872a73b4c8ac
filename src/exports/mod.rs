//! The functions that JavaScript calls.

pub mod offline;
pub mod record;
pub mod settings;
