//! The `.cpuprofile` format, as `node --cpu-prof` writes it.

mod child_lists;
pub mod facts;
mod json_output;
pub mod packed;
pub mod write;

pub use self::write::CpuProfile;
