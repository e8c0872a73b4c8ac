//! The native threads of processes, and who gave them their work.

mod causes;
pub(crate) mod module;
pub(crate) mod threads;
