//! The settings of a recording, and the names of its files.

mod amount;
pub mod categories;
pub mod config;
pub mod environment;
mod given_value;
pub mod length;
mod name_label;
pub mod name_pattern;
mod node_options;
pub mod push;
pub mod run_folder;
mod setting;
pub mod start;
pub mod values;
