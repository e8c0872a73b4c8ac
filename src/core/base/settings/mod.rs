//! The settings of a recording, and the names of its files.

pub mod amount;
pub mod config;
pub mod environment;
pub mod name_label;
pub mod name_pattern;
pub mod node_options;
pub mod run_folder;
