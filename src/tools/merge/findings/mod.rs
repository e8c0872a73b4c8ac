//! What a merge finds out while it writes: what could not be read, counts, and the notes for
//! the user.

pub(crate) mod findings;
pub(crate) mod left_out;
pub(crate) mod notes;
pub(crate) mod thread_cpu;
