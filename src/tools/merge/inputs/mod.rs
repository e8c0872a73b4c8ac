//! What a merge reads: files by their kinds, the processes that they belong to, and events.

pub mod chosen_threads;
pub mod clean;
pub mod event;
pub mod foreign_pid;
pub mod merge_inputs;
pub mod other_trace;
pub mod recorded_processes;
pub mod sorted_inputs;
pub mod taken_pids;
