//! The native threads of processes, and who gave them their work.

mod causes;
pub mod module;
pub mod threads;
