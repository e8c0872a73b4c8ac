//! Recording: one thread from start to stop, and the writer thread behind it.

pub mod lifecycle;
pub mod process;
pub mod signals;
pub mod sink;
pub mod thread;
pub mod worker_script;
pub mod writer;
