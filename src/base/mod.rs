//! Settings, errors and the operating system: used by every other folder.

pub mod config;
pub mod error;
pub mod name_pattern;
pub mod system;
