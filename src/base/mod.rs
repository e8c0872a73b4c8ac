//! Settings, errors and system calls, which every other folder may use.

pub(crate) mod amount;
pub(crate) mod ancestors;
pub(crate) mod config;
pub(crate) mod cpu_times;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod event_lines;
pub(crate) mod id_set;
mod name_label;
pub(crate) mod name_list;
pub(crate) mod name_pattern;
pub(crate) mod node_options;
pub(crate) mod numbering;
pub(crate) mod regular_file;
pub(crate) mod run_folder;
pub(crate) mod stderr;
pub(crate) mod system;
#[cfg(test)]
pub(crate) mod test_reader;
