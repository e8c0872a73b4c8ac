//! Plain data of recordings: windows that were sampled, and what goes with them.

pub mod cpu_use;
pub mod ending;
pub mod frame;
pub mod gap;
pub mod gc;
pub mod label;
pub mod label_table;
pub mod met_condition;
pub mod off_core;
pub mod package;
pub mod position;
pub mod program;
pub mod read_scope;
pub mod timeline;
pub mod wall_time;
pub mod window;
