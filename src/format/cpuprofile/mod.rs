//! The `.cpuprofile` format, as `node --cpu-prof` writes it.

mod child_lists;
pub(crate) mod facts;
pub(crate) mod file_name;
mod head_tree;
mod json_output;
mod packed;
pub(crate) mod read;
pub(crate) mod times;
mod write;

pub(crate) use self::write::CpuProfile;
