//! Profiles that are copied or rewritten.

pub(crate) mod copied;
pub(crate) mod cpuprofile;
pub(crate) mod repaired_chunk;
pub(crate) mod rewrite;
