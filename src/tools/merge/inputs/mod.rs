//! The processes of the inputs.

pub(crate) mod foreign_pids;
pub(crate) mod host_process;
pub(crate) mod input_process;
pub(crate) mod processes;
