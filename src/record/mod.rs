//! Recording: one thread from start to stop, and the writer thread behind it.

pub(crate) mod lifecycle;
pub(crate) mod process;
pub(crate) mod signals;
pub(crate) mod sink;
pub(crate) mod thread;
pub(crate) mod worker_script;
pub(crate) mod writer;
