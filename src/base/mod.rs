//! Settings, errors and the operating system: used by every other folder.

pub(crate) mod config;
pub(crate) mod error;
pub(crate) mod event_lines;
pub(crate) mod name_pattern;
pub(crate) mod stderr;
pub(crate) mod system;
