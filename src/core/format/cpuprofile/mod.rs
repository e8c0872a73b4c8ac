//! The `.cpuprofile` format, as `node --cpu-prof` writes it.

mod child_lists;
pub mod facts;
pub mod file_name;
mod head_tree;
mod json_output;
pub mod kind;
mod packed;
pub mod read;
pub mod times;
pub mod write;

pub use self::write::CpuProfile;
