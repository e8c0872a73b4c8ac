//! What a merge finds out while it writes: what could not be read, counts, and the notes for
//! the user.

pub mod findings;
pub mod left_out;
pub mod notes;
pub mod thread_cpu;
