//! Reads the `.cpuprofile` format.

pub mod facts;
pub mod file_name;
mod head_tree;
pub mod kind;
pub mod read;
pub mod times;
