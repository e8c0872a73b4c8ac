//! Settings, errors and system calls, which every other folder may use.

pub(crate) mod amount;
pub(crate) mod config;
pub(crate) mod cpu_times;
pub(crate) mod error;
pub(crate) mod event_lines;
pub(crate) mod name_pattern;
pub(crate) mod node_options;
pub(crate) mod numbering;
pub(crate) mod stderr;
pub(crate) mod system;
