//! What a process has once.

pub(crate) mod armed;
pub(crate) mod control;
pub(crate) mod exit_code;
pub(crate) mod host;
pub(crate) mod push;
pub(crate) mod signals;
