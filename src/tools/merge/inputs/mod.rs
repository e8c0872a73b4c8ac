//! What a merge reads: files by their kinds, the processes that they belong to, and events.

pub(crate) mod chosen_threads;
pub(crate) mod clean;
pub(crate) mod event;
pub(crate) mod foreign_pid;
pub(crate) mod merge_inputs;
pub(crate) mod other_trace;
pub(crate) mod recorded_processes;
pub(crate) mod sorted_inputs;
pub(crate) mod taken_pids;
