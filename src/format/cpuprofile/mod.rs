//! The `.cpuprofile` format, as `node --cpu-prof` writes it.

mod child_lists;
pub(crate) mod file_name;
mod json_output;
mod packed;
pub(crate) mod read;
mod write;

pub(crate) use self::write::CpuProfile;
