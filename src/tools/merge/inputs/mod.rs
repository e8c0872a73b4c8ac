//! What a merge reads: events, and the processes that they belong to.

pub(crate) mod event;
pub(crate) mod foreign_pids;
pub(crate) mod host_process;
pub(crate) mod input_process;
pub(crate) mod processes;
