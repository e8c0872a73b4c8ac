//! Profiles that are copied or rewritten.

pub mod copied;
pub mod cpuprofile;
pub mod repaired_chunk;
pub mod rewrite;
